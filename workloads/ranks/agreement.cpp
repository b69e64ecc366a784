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

wire::Status first_failure(std::initializer_list<wire::Status> checks) {
  for (const wire::Status& each : checks)
    if (!each) return each;
  return wire::ok();
}

wire::Status check_messages(std::int64_t wrong) {
  if (wrong == 0) return wire::ok();
  return wire::Error{fmt::format("{} messages came otherwise than they were sent", wrong)};
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
