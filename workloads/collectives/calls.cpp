#include "workloads/collectives/calls.h"

#include <fmt/format.h>
#include <idlewave/probe.h>

#include <numeric>

#include "workloads/ranks/place.h"
#include "workloads/support/pause.h"

namespace idlewave::collectives {
namespace {

constexpr int kRoot = 0;

/// The root has to do with all ranks, the others with the root.
std::vector<int> others_of(const ranks::Group& world) {
  if (world.rank != kRoot) return {kRoot};
  std::vector<int> others(static_cast<std::size_t>(world.size) - 1);
  std::iota(others.begin(), others.end(), 1);
  return others;
}

bool has_root(Collective collective) { return collective == Collective::kGather || collective == Collective::kScatter; }

}  // namespace

Call::Call(Collective collective, Payload& payload, MPI_Comm ranks, bool asleep)
    : collective_(collective),
      payload_(payload),
      ranks_(ranks),
      asleep_(asleep),
      phase_(idlewave_define_phase(std::string{name_of(collective)}.c_str(), IDLEWAVE_WAIT)) {
  const ranks::Group world = ranks::group_of(ranks);
  is_root_ = world.rank == kRoot;
  if (has_root(collective)) others_ = others_of(world);
}

void Call::run() {
  idlewave_switch(phase_);
  say_partners();
  if (!asleep_) return block();
  start();
  complete();
}

void Call::finish() {
  idlewave_switch(phase_);
  say_partners();
  complete();
}

void Call::block() {
  const auto count = static_cast<int>(payload_.elements());
  const std::int64_t* sent = payload_.sent().data();
  std::int64_t* received = payload_.received().data();
  switch (collective_) {
    case Collective::kAllreduce: MPI_Allreduce(sent, received, count, MPI_INT64_T, MPI_SUM, ranks_); break;
    case Collective::kAllgather: MPI_Allgather(sent, count, MPI_INT64_T, received, count, MPI_INT64_T, ranks_); break;
    case Collective::kGather: MPI_Gather(sent, count, MPI_INT64_T, received, count, MPI_INT64_T, kRoot, ranks_); break;
    case Collective::kScatter:
      MPI_Scatter(sent, count, MPI_INT64_T, received, count, MPI_INT64_T, kRoot, ranks_);
      break;
  }
}

void Call::start() {
  const auto count = static_cast<int>(payload_.elements());
  const std::int64_t* sent = payload_.sent().data();
  std::int64_t* received = payload_.received().data();
  switch (collective_) {
    case Collective::kAllreduce: MPI_Iallreduce(sent, received, count, MPI_INT64_T, MPI_SUM, ranks_, &request_); break;
    case Collective::kAllgather:
      MPI_Iallgather(sent, count, MPI_INT64_T, received, count, MPI_INT64_T, ranks_, &request_);
      break;
    case Collective::kGather:
      MPI_Igather(sent, count, MPI_INT64_T, received, count, MPI_INT64_T, kRoot, ranks_, &request_);
      break;
    case Collective::kScatter:
      MPI_Iscatter(sent, count, MPI_INT64_T, received, count, MPI_INT64_T, kRoot, ranks_, &request_);
      break;
  }
}

void Call::look() {
  int done = 0;
  MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
}

void Call::complete() {
  constexpr auto kBetweenLooks = std::chrono::microseconds{50};
  if (!asleep_) {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    return;
  }
  for (look(); request_ != MPI_REQUEST_NULL; look()) support::sleep_until(support::monotonic_now() + kBetweenLooks);
}

/// With a root, by whom the wait of each depends on: its blocks are small, so that a send is over when it is posted.
void Call::say_partners() const {
  const auto pattern = static_cast<int>(collective_);
  const auto others = static_cast<int>(others_.size());
  if (!has_root(collective_)) {
    idlewave_partners(pattern, nullptr, 0, nullptr, 0, IDLEWAVE_COLLECTIVE);
  } else if (is_root_ == (collective_ == Collective::kGather)) {
    idlewave_partners(pattern, others_.data(), others, nullptr, 0, 0);
  } else {
    idlewave_partners(pattern, nullptr, 0, others_.data(), others, 0);
  }
}

}  // namespace idlewave::collectives
