#include "workloads/progress/measure.h"

#include <fmt/format.h>
#include <idlewave/probe.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "workloads/kernels/divide.h"
#include "workloads/support/pause.h"

namespace idlewave::progress {
namespace {

using support::monotonic_now;
using wire::Nanoseconds;
using wire::seconds;

constexpr int kWorks = 0;   ///< The rank that does not block.
constexpr int kBlocks = 1;  ///< The other one.
constexpr int kTag = 0;

/// One rank's side of the trials.
class Bench {
 public:
  Bench(Direction direction, int message_size, MPI_Comm ranks)
      : sends_(direction == Direction::kSend), bytes_(message_size), ranks_(ranks) {
    MPI_Comm_rank(ranks, &rank_);
    const std::size_t numbers =
        (static_cast<std::size_t>(message_size) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    message_.resize(numbers);
    if (receives()) received_.resize(numbers);
  }

  /// Meaningful on the rank that works. Collective.
  Trial run(std::uint64_t divisions) {
    write_message();
    idlewave_step(trial_);
    idlewave_switch(IDLEWAVE_WAIT);
    MPI_Barrier(ranks_);
    const Trial trial = rank_ == kWorks ? start_work_wait(divisions) : block();
    idlewave_switch(IDLEWAVE_NONE);
    if (receives()) check();
    ++trial_;
    return trial;
  }

  bool all_right() const { return wrong_ == 0; }
  std::int64_t wrong() const { return wrong_; }

 private:
  bool receives() const { return (rank_ == kWorks) != sends_; }

  /// Other numbers in each trial, so that an old message is not taken for a new one. The receiver knows them as well.
  void write_message() {
    const auto first = static_cast<std::uint64_t>(trial_ + 1) * 0x9e3779b97f4a7c15u;
    for (std::size_t i = 0; i < message_.size(); ++i) message_[i] = first + i;
  }

  void check() { wrong_ += std::memcmp(received_.data(), message_.data(), static_cast<std::size_t>(bytes_)) != 0; }

  Trial start_work_wait(std::uint64_t divisions) {
    MPI_Request request = MPI_REQUEST_NULL;
    idlewave_switch(IDLEWAVE_COMMUNICATE);
    const Nanoseconds start = monotonic_now();
    if (sends_) {
      MPI_Isend(message_.data(), bytes_, MPI_BYTE, kBlocks, kTag, ranks_, &request);
    } else {
      MPI_Irecv(received_.data(), bytes_, MPI_BYTE, kBlocks, kTag, ranks_, &request);
    }
    const double work = do_work(divisions);
    idlewave_switch(IDLEWAVE_WAIT);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return {work, seconds(monotonic_now() - start)};
  }

  /// What it took, which is more than was meant where others had the core: on one that is shared, the total is
  /// longer by as much.
  static double do_work(std::uint64_t divisions) {
    if (divisions == 0) return 0;
    idlewave_switch(IDLEWAVE_COMPUTE);
    const Nanoseconds start = monotonic_now();
    [[maybe_unused]] volatile const double kept = kernels::divide_chain(divisions);
    return seconds(monotonic_now() - start);
  }

  Trial block() {
    if (sends_) {
      MPI_Recv(received_.data(), bytes_, MPI_BYTE, kWorks, kTag, ranks_, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(message_.data(), bytes_, MPI_BYTE, kWorks, kTag, ranks_);
    }
    return {};
  }

  bool sends_;
  int bytes_;
  MPI_Comm ranks_;
  int rank_ = 0;
  std::int64_t trial_ = 0;
  std::int64_t wrong_ = 0;  ///< Trials whose message came otherwise than it was sent.
  std::vector<std::uint64_t> message_;
  std::vector<std::uint64_t> received_;
};

/// Seconds of the communication alone, the median of some; the first few, which set things up, do not count.
double communication_alone(Bench& bench) {
  constexpr int kWarmUp = 3;
  constexpr int kTrials = 9;
  for (int trial = 0; trial < kWarmUp; ++trial) bench.run(0);
  std::vector<double> times;
  for (int trial = 0; trial < kTrials; ++trial) times.push_back(bench.run(0).total);
  std::ranges::nth_element(times, times.begin() + kTrials / 2);
  return times[kTrials / 2];
}

}  // namespace

wire::Result<Measurement> measure(const Options& options, Direction direction, int message_size,
                                  double divisions_per_second, MPI_Comm ranks) {
  constexpr double kLongestWork = 2;  // communications
  Bench bench{direction, message_size, ranks};
  const double longest = kLongestWork * communication_alone(bench) * divisions_per_second;
  Measurement measured{direction, message_size, std::vector<Point>(static_cast<std::size_t>(options.points))};
  // in turn, so that a disturbance does not meet all trials of one point
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    for (std::size_t i = 0; i < measured.points.size(); ++i) {
      const double share = static_cast<double>(i) / (options.points - 1);
      measured.points[i].push_back(bench.run(static_cast<std::uint64_t>(std::llround(share * longest))));
    }
  }
  if (bench.all_right()) return measured;
  return wire::Error{
      fmt::format("{} messages of {} B came otherwise than they were sent", bench.wrong(), message_size)};
}

}  // namespace idlewave::progress
