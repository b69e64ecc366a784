#include "probe/session/node_name.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "probe/session/files.h"

namespace idlewave::session {
namespace {

/// Hydra gives its ranks, which it numbers so, the environment of the node on which it was started.
bool has_environment_of_another_node() { return getenv("MPI_LOCALRANKID") != nullptr; }

}  // namespace

void node_name(char (&out)[kNodeNameLimit]) {
  const char* by_slurm = getenv("SLURMD_NODENAME");
  if (by_slurm != nullptr && by_slurm[0] != '\0' && !has_environment_of_another_node()) {
    print_to(out, "%s", by_slurm);
    return;
  }
  utsname names;
  print_to(out, "%s", uname(&names) == 0 ? names.nodename : "localhost");
}

}  // namespace idlewave::session
