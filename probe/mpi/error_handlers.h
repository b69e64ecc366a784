#pragma once
// Whether an error handler of the program has run within a call. A handler may take an error back, and then the failed call
// returns 0 like one that has gone well. Of such a call neither arguments nor results may be looked at, and the library
// may not be asked about them: it would call the handler once more, or one that ends the program. Only the library knows
// which handler it calls, so it is given functions of ours in place of the program's, which pass the call on to those.

#include "probe/mpi/roles.h"
#include "probe/mpi/watcher.h"

namespace idlewave::mpi {

/// As the address of a function: what the library is to be given in place of the program's. Itself where that is null,
/// one of ours, or one too many; after that no call is known to have gone well.
[[gnu::cold]] Word counted_handler(Word handler);

/// How many have run on the calling thread.
[[gnu::visibility("hidden"), gnu::tls_model("initial-exec")]] extern thread_local constinit unsigned handler_runs;

/// Of a call that began when so many had, on any thread.
bool may_handler_have_run_since(unsigned runs);

[[gnu::noinline, gnu::cold]] void forget_handler_run();
/// Of the call whose turn it is, once it is over, on the thread that reports.
inline bool may_handler_have_run() {
  if (!watch.handler_may_have_run.load(std::memory_order_relaxed)) [[likely]]
    return false;
  forget_handler_run();
  return true;
}

}  // namespace idlewave::mpi
