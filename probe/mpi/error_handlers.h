#pragma once
// Whether an error handler of the program has run within a call. It may take an error back, so that the call of which
// it was told returns 0 like one that has gone well: then what that was given, and has left, is nothing to be looked at,
// and nothing to ask the library about, which would call the handler once more, or a deadly one. What handler is called
// only the library knows; so it is given functions of ours in place of the program's, which go on to those.

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
