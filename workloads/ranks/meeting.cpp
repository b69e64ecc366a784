#include "workloads/ranks/meeting.h"

#include "workloads/support/pause.h"

namespace idlewave::ranks {

std::int64_t largest_asleep(std::int64_t own, MPI_Comm ranks) {
  std::int64_t largest = 0;
  int done = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&own, &largest, 1, MPI_INT64_T, MPI_MAX, ranks, &request);
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    support::sleep_until(support::monotonic_now() + std::chrono::milliseconds{1});
  return largest;
}

}  // namespace idlewave::ranks
