#include "workloads/hybrid/measure.h"

#include <idlewave/probe.h>
#include <mpi.h>
#include <omp.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>

#include "workloads/distributed/patience.h"
#include "workloads/support/pause.h"

namespace idlewave::hybrid {
namespace {

using support::monotonic_now;
using wire::Nanoseconds;
using wire::seconds;

constexpr int kPattern = 0;

/// Elements [begin, end) of thread `number` of `threads`, of those from `first` on.
Lines share_of(const Lines& lines, int number, int threads) {
  const long count = lines.end - lines.begin;
  return {lines.begin + int(count * number / threads), lines.begin + int(count * (number + 1) / threads)};
}

/// The planes that begin and end at `rank` of `size` processes.
std::pair<int, int> planes_of(int planes, int rank, int size) {
  const auto bound = [&](int part) { return int(std::int64_t{planes} * part / size); };
  return {bound(rank), bound(rank + 1)};
}

/// One process and its threads in one way.
class Team {
 public:
  Team(const Way& way, const Options& options, const ranks::Group& ranks, const ranks::Group& node, std::int64_t& step)
      : way_(way),
        o_(options),
        ranks_(ranks),
        step_(step),
        planes_(planes_of(options.box.size[0], ranks.rank, ranks.size)),
        slab_(options.box, planes_.first, planes_.second - planes_.first),
        asleep_(options.kernel == Kernel::kVirtual ||
                node.size * options.threads > int(std::thread::hardware_concurrency())),
        all_(options.threads) {
    if (ranks.rank > 0) neighbours_.push_back({ranks.rank - 1, 0, -1});
    if (ranks.rank + 1 < ranks.size) neighbours_.push_back({ranks.rank + 1, slab_.planes() - 1, slab_.planes()});
    for (const Neighbour& each : neighbours_) partners_.push_back(each.rank);
  }

  RankFigures run() {
    const Nanoseconds begin = monotonic_now();
#pragma omp parallel num_threads(o_.threads)
    take_steps(omp_get_thread_num());
    own_.step = seconds(monotonic_now() - begin);
    for (double* each : {&own_.step, &own_.communication, &own_.work}) *each /= double(o_.steps);
    own_.error = slab_.error();
    own_.inner = double(inner().end - inner().begin) / double(slab_.lines());
    return own_;
  }

 private:
  struct Neighbour {
    int rank = 0;
    int sent = 0;      ///< Plane that it needs.
    int received = 0;  ///< Its plane that is needed here.
  };
  struct Phases {
    int communication = idlewave_define_phase("communication", IDLEWAVE_WAIT);
    int update = idlewave_define_phase("update", IDLEWAVE_COMPUTE);
    int beside = idlewave_define_phase("update beside communication", IDLEWAVE_COMPUTE);
  };

  /// Those lines that depend on no plane of others.
  Lines inner() const {
    const int of_plane = o_.box.lines_of_plane();
    return slab_.planes() > 2 ? Lines{of_plane, slab_.lines() - of_plane} : Lines{0, 0};
  }

  void take_steps(int thread) {
    if (o_.kernel == Kernel::kVirtual) support::ask_for_prompt_wake_ups();
    for (std::int64_t i = 0; i < o_.steps; ++i) {
      if (thread == 0) idlewave_step(step_++);
      way_.mode == Mode::kMasteronly ? one_after_the_other(thread) : side_by_side(thread);
    }
    if (thread == 0) idlewave_switch(IDLEWAVE_NONE);
  }

  /// Threads that sleep are told: one is active while it communicates.
  void one_after_the_other(int thread) {
    if (thread == 0) {
      idlewave_threads(1);
      idlewave_switch(phases_.communication);
      communicate(0, 1);
      idlewave_threads(o_.threads);
      idlewave_switch(phases_.update);
    }
    all_.arrive_and_wait();
    update_together(thread, {0, slab_.lines()});
  }

  void side_by_side(int thread) {
    const int reserved = way_.reserved, workers = o_.threads - reserved;
    if (thread == 0) {
      working_ = workers;
      idlewave_threads(workers);
      idlewave_switch(phases_.beside);
    }
    all_.arrive_and_wait();
    if (thread >= reserved) {
      work_on(share_of(inner(), thread - reserved, workers));
      --working_;
    } else {
      communicate(thread, reserved);
    }
    all_.arrive_and_wait();
    if (thread == 0) {
      idlewave_threads(o_.threads);
      idlewave_switch(phases_.update);
    }
    // The outer planes, or all of them where there are no others.
    const Lines within = inner();
    if (within.begin == within.end) return update_together(thread, {0, slab_.lines()});
    work_on(share_of({0, within.begin}, thread, o_.threads));
    update_together(thread, {within.end, slab_.lines()});
  }

  /// Ends the step.
  void update_together(int thread, const Lines& lines) {
    const Nanoseconds begin = monotonic_now();
    work_on(share_of(lines, thread, o_.threads));
    all_.arrive_and_wait();
    if (thread != 0) return;
    own_.work += seconds(monotonic_now() - begin);
    slab_.go_on();
  }

  void work_on(const Lines& lines) {
    const Nanoseconds begin = monotonic_now();
    slab_.update(lines);
    if (o_.kernel == Kernel::kVirtual)
      support::sleep_until(begin + o_.point_time * (std::int64_t{lines.end - lines.begin} * o_.box.size[2]));
  }

  /// A thread's share, of `threads` that communicate, of what all neighbours send and are sent. The thread that reports
  /// tells of waiting when nobody works beside it any more.
  void communicate(int thread, int threads) {
    const Nanoseconds begin = monotonic_now();
    const std::ptrdiff_t points = slab_.plane(1) - slab_.plane(0);
    const std::ptrdiff_t from = points * thread / threads;
    const int count = int(points * (thread + 1) / threads - from);
    std::array<MPI_Request, 4> requests;
    int posted = 0;
    for (const Neighbour& each : neighbours_)
      MPI_Irecv(slab_.plane(each.received) + from, count, MPI_DOUBLE, each.rank, thread, ranks_.ranks,
                &requests[std::size_t(posted++)]);
    for (std::size_t i = 0; i < neighbours_.size(); ++i) {
      if (o_.kernel == Kernel::kVirtual) support::sleep_until(begin + message_time() * std::int64_t(i + 1) / threads);
      MPI_Isend(slab_.plane(neighbours_[i].sent) + from, count, MPI_DOUBLE, neighbours_[i].rank, thread, ranks_.ranks,
                &requests[std::size_t(posted++)]);
    }
    if (thread == 0)
      idlewave_partners(kPattern, partners_.data(), int(partners_.size()), partners_.data(), int(partners_.size()), 0);
    wait_for(thread, requests.data(), posted);
    if (thread == 0) own_.communication += seconds(monotonic_now() - begin);
  }

  void wait_for(int thread, MPI_Request* requests, int count) {
    if (!asleep_ && working_ == 0) return void(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    int done = 0;
    bool told = way_.mode == Mode::kMasteronly || thread > 0;
    for (const distributed::Patience patience;;) {
      MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
      if (done) return;
      if (!told && working_ == 0) idlewave_switch(phases_.communication), told = true;
      asleep_ ? patience.sleep() : std::this_thread::yield();
    }
  }

  Nanoseconds message_time() const {
    const double bytes = double(o_.box.points_of_plane()) * sizeof(double);
    return Nanoseconds(std::int64_t(bytes / o_.message_bandwidth * 1e9));
  }

  Way way_;
  const Options& o_;
  const ranks::Group& ranks_;
  std::int64_t& step_;
  std::pair<int, int> planes_;
  Slab slab_;
  bool asleep_;
  std::barrier<> all_;
  std::vector<Neighbour> neighbours_;
  std::vector<int> partners_;
  Phases phases_;
  std::atomic<int> working_{0};  ///< Threads that work beside the communication.
  RankFigures own_;
};

}  // namespace

Run measure(const Way& way, const Options& options, const ranks::Group& ranks, const ranks::Group& node,
            std::int64_t& step) {
  Team team(way, options, ranks, node, step);
  ranks::start_together(ranks.ranks, node);
  const RankFigures own = team.run();
  Run run{way, std::vector<RankFigures>(ranks.rank == 0 ? std::size_t(ranks.size) : 0)};
  MPI_Gather(&own, sizeof own, MPI_BYTE, run.ranks.data(), sizeof own, MPI_BYTE, 0, ranks.ranks);
  return run;
}

}  // namespace idlewave::hybrid
