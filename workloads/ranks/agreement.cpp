#include "workloads/ranks/agreement.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <limits>

#include "probe/wire/printable.h"

namespace idlewave::ranks {

void complain(const wire::Error& error) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, wire::printable(error.message));
}

bool all_succeeded(MPI_Comm ranks, const wire::Status& own) {
  constexpr int kNobody = std::numeric_limits<int>::max();
  int rank = 0;
  MPI_Comm_rank(ranks, &rank);
  const int failed = own ? kNobody : rank;
  int first_failed = kNobody;
  MPI_Allreduce(&failed, &first_failed, 1, MPI_INT, MPI_MIN, ranks);
  if (rank == first_failed) complain(own.error());
  return first_failed == kNobody;
}

}  // namespace idlewave::ranks
