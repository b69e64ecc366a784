#include "workloads/chebfd/measure.h"

#include <idlewave/probe.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "workloads/chebfd/kernel.h"
#include "workloads/chebfd/start_vectors.h"
#include "workloads/distributed/exchange.h"
#include "workloads/distributed/patience.h"
#include "workloads/distributed/threads.h"
#include "workloads/kernels/lateness.h"
#include "workloads/ranks/agreement.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/pause.h"

namespace idlewave::chebfd {
namespace {

using sparse::Bounds;
using sparse::Range;
using support::monotonic_now;
using wire::Nanoseconds;
using wire::Status;

enum Pattern { kNeighbours, kAll };

/// A site is on one rank as a whole.
Bounds bounds_of(const Insulator& insulator, int ranks) {
  Bounds bounds = sparse::bounds_by_rows(sites_of(insulator), ranks);
  for (Index& bound : bounds) bound *= kOrbitals;
  return bounds;
}

/// Before anything is allocated: what this node's ranks take. Of a rank with less than a plane of sites the halo is a
/// plane on either side.
Status check_memory(const Options& o, const Bench& bench) {
  constexpr double kInRow = 13, kOfNonzero = 16 + 4 + 16 + 8, kBlocks = 3;
  const double plane = kOrbitals * double(o.insulator.size[1]) * o.insulator.size[2];
  const double rows = double(rows_of(o.insulator)) / bench.ranks.size;
  const double moments = 2.0 * o.degree * o.vectors * sizeof(double);
  const double of_rank =
      rows * kInRow * kOfNonzero + (rows + 2 * plane) * kBlocks * o.block * sizeof(Complex) + moments;
  const double bytes = std::min(of_rank * bench.node.size, 9e18);
  return support::check_memory(static_cast<std::size_t>(bytes), "give a smaller --size, or start it on more nodes",
                               bench.node.size);
}

bool sleeps(const Bench& bench) {
  const Options& o = bench.options;
  if (o.waiting != Waiting::kAuto) return o.waiting == Waiting::kAsleep;
  return o.kernel == Kernel::kVirtual || bench.node.size * o.threads > int(std::thread::hardware_concurrency());
}

/// With virtual work: how late a rank may be and still be counted from when it was ready.
Nanoseconds most_late_of(const Options& o, const ComplexCrs& h) {
  const std::chrono::duration<double> alone(bytes_of(h, std::size_t(o.block)) / core_bandwidth_of(o));
  return kernels::most_late(std::chrono::duration_cast<Nanoseconds>(alone));
}

/// Adds the time from its making to its end.
class Lap {
 public:
  explicit Lap(double& seconds) : seconds_(seconds) {}
  ~Lap() { seconds_ += std::chrono::duration<double>(monotonic_now() - begin_).count(); }
  Lap(const Lap&) = delete;
  Lap& operator=(const Lap&) = delete;

 private:
  double& seconds_;
  Nanoseconds begin_ = monotonic_now();
};

/// Algorithm 1 on the rows of one rank, block by block.
class RankFilter {
 public:
  RankFilter(const Bench& bench, const Filter& filter, const Part& part, Index first_row,
             distributed::Exchange& exchange)
      : bench_(bench),
        o_(bench.options),
        filter_(filter),
        h_(part.matrix),
        scale_{filter.alpha, filter.beta},
        first_row_(first_row),
        exchange_(exchange),
        asleep_(sleeps(bench)),
        most_late_(most_late_of(o_, h_)),
        start_(o_),
        checks_(o_, filter),
        width_(std::size_t(o_.block)),
        norms_(std::size_t(o_.vectors)),
        eta_(std::size_t(o_.degree - 1) * norms_.size()),
        mu_(eta_.size()),
        sums_(std::size_t(o_.threads)) {
    for (BlockVectors* each : {&u_, &w_, &x_})
      each->assign((h_.rows() + part.halo.columns.size()) * width_, {std::nan(""), std::nan("")});
    own_.rows = Index(h_.rows());
    own_.nonzeros = Index(h_.nonzeros());
    own_.received = Index(part.halo.columns.size() * width_ * sizeof(Complex));
    own_.sources = Index(part.halo.sources.size());
  }

  /// The whole filter, with all blocks.
  void run() {
    idlewave_threads(o_.threads);
    ready_ = monotonic_now();
    for (int first = 0; first < o_.vectors; first += o_.block) {
      begin_block(first);
      {
        const Lap lap(own_.filter);
        filter_block(first);
      }
      idlewave_switch(IDLEWAVE_NONE);
      checks_.add(start_, first_row_, h_.rows(), first, x_.data());
    }
  }

  Run gathered(std::int64_t runs);

 private:
  struct Phases {
    int gather = idlewave_define_phase("gather", IDLEWAVE_COMPUTE);
    int communication = idlewave_define_phase("communication", IDLEWAVE_WAIT);
    int kernel = idlewave_define_phase("chebfd_op", IDLEWAVE_COMPUTE);
    int reduction = idlewave_define_phase("reduction", IDLEWAVE_WAIT);
  };

  void begin_block(int first) {
    for (std::size_t v = 0; v < width_; ++v) norms_[std::size_t(first) + v] = 0;
    for (std::size_t row = 0; row < h_.rows(); ++row) {
      for (std::size_t v = 0; v < width_; ++v) {
        const Complex element = start_.element(first_row_ + Index(row), first + int(v));
        x_[row * width_ + v] = element;
        norms_[std::size_t(first) + v] += std::norm(element);
      }
    }
  }

  void filter_block(int first) {
    const auto& c = filter_.coefficients;
    step(x_, [&](const Range& rows, Moments&) { spmmv(h_, scale_, rows, width_, x_.data(), u_.data()); });
    std::copy_n(x_.begin(), h_.rows() * width_, w_.begin());
    step(u_, [&](const Range& rows, Moments& sums) {
      chebfd_op(h_, scale_, 0, rows, width_, u_.data(), w_.data(), x_.data(), sums);
      for (std::size_t i = rows.begin * width_; i < rows.end * width_; ++i)
        x_[i] = c[0] * x_[i] + c[1] * u_[i] + c[2] * w_[i];
    });
    take_moments(2, first);
    for (int p = 3; p <= o_.degree; ++p) {
      std::swap(w_, u_);
      step(u_, [&](const Range& rows, Moments& sums) {
        chebfd_op(h_, scale_, c[std::size_t(p)], rows, width_, u_.data(), w_.data(), x_.data(), sums);
      });
      take_moments(p, first);
    }
  }

  /// Elements of others, then the work, on all threads.
  template <class Work>
  void step(BlockVectors& needed, Work work) {
    ready_ += kernels::time_of([&] { idlewave_step(steps_++); });
    exchange(needed);
    switch_to(phases_.kernel);
    const Lap lap(own_.compute);
    const auto traffic = static_cast<std::uint64_t>(bytes_of(h_, width_));
    idlewave_traffic(traffic);
    distributed::in_team(o_.threads, [&](int thread) {
      Moments& sums = sums_[std::size_t(thread)];
      sums.eta.assign(width_, 0);
      sums.mu.assign(width_, 0);
      work(sparse::share_of(h_.rows(), thread, o_.threads), sums);
    });
    if (!bench_.socket) return;
    ready_ = bench_.socket->move(traffic, kernels::ready_for(most_late_, ready_));
    idlewave_domain_bytes(bench_.socket->bytes_moved());
  }

  void exchange(BlockVectors& vectors) {
    auto* numbers = reinterpret_cast<double*>(vectors.data());
    {
      const Lap lap(own_.gather);
      exchange_.post_receives(numbers + 2 * h_.rows() * width_);
      switch_to(phases_.gather);
      distributed::in_team(o_.threads, [&](int thread) {
        const Range range = sparse::share_of(exchange_.to_gather(), thread, o_.threads);
        exchange_.gather(numbers, range.begin, range.end);
      });
    }
    const Lap lap(own_.communication);
    exchange_.post_sends(ready_);
    switch_to(phases_.communication);
    exchange_.tell_probe();
    exchange_.wait(asleep_);
    ready_ = std::max(ready_, exchange_.last_done());
  }

  /// Where it may be held.
  void switch_to(int phase) {
    ready_ += kernels::time_of([&] { idlewave_switch(phase); });
  }

  /// Of this rank, or of all if they are added up in each step.
  void take_moments(int p, int first) {
    std::vector<double> both(2 * width_);
    for (const Moments& sums : sums_) {
      for (std::size_t v = 0; v < width_; ++v) {
        both[v] += sums.eta[v];
        both[width_ + v] += sums.mu[v];
      }
    }
    if (o_.reduction == Reduction::kStep) {
      add_up_now(both);
      ready_ = monotonic_now();  // What is reduced tells no times.
    }
    const std::size_t place = std::size_t(p - 2) * norms_.size() + std::size_t(first);
    std::copy_n(both.begin(), width_, eta_.begin() + std::ptrdiff_t(place));
    std::copy_n(both.begin() + std::ptrdiff_t(width_), width_, mu_.begin() + std::ptrdiff_t(place));
  }

  void add_up_now(std::vector<double>& values) {
    const Lap lap(own_.reduction);
    idlewave_switch(phases_.reduction);
    if (everybody_.empty())
      for (int rank = 0; rank < bench_.ranks.size; ++rank)
        if (rank != bench_.ranks.rank) everybody_.push_back(rank);
    idlewave_partners(kAll, everybody_.data(), int(everybody_.size()), everybody_.data(), int(everybody_.size()),
                      IDLEWAVE_COLLECTIVE);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_DOUBLE, MPI_SUM, bench_.ranks.ranks, &request);
    if (!asleep_) MPI_Wait(&request, MPI_STATUS_IGNORE);
    int done = 0;
    for (const distributed::Patience patience;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return;
      patience.sleep();
    }
  }

  /// On rank 0; `values` of this rank are gone then.
  void add_up(std::vector<double>& values) {
    constexpr std::size_t kMost = 1 << 24;
    for (std::size_t first = 0; first < values.size(); first += kMost) {
      const int count = int(std::min(kMost, values.size() - first));
      double* part = values.data() + first;
      MPI_Reduce(bench_.ranks.rank == 0 ? MPI_IN_PLACE : part, part, count, MPI_DOUBLE, MPI_SUM, 0, bench_.ranks.ranks);
    }
  }

  AllMoments moments() const;
  double moment_error() const;

  const Bench& bench_;
  const Options& o_;
  const Filter& filter_;
  const ComplexCrs& h_;
  Scale scale_;
  Index first_row_;
  distributed::Exchange& exchange_;
  bool asleep_;
  Nanoseconds most_late_;
  Nanoseconds ready_{};  ///< Since when this rank could go on: with virtual work that is not now (kernels/lateness.h).
  StartVectors start_;
  Checks checks_;
  Phases phases_;
  std::size_t width_;  ///< n_b
  BlockVectors u_, w_, x_;
  std::vector<double> norms_;  ///< Squared, of each start vector.
  std::vector<double> eta_;    ///< By p from 2 on, then by vector.
  std::vector<double> mu_;
  std::vector<Moments> sums_;  ///< By thread, of one step.
  std::vector<int> everybody_;
  std::int64_t steps_ = 0;
  RankFigures own_;
};

AllMoments RankFilter::moments() const {
  AllMoments all;
  double norm = 0;
  for (const double each : norms_) norm += each;
  for (std::size_t first = 0; first < eta_.size(); first += norms_.size()) {
    double eta = 0, mu = 0;
    for (std::size_t v = 0; v < norms_.size(); ++v) eta += eta_[first + v], mu += mu_[first + v];
    all.eta.push_back(eta / norm);
    all.mu.push_back(mu / norm);
  }
  return all;
}

/// Of a plane wave T_p(H) x = T_p(E) x.
double RankFilter::moment_error() const {
  double largest = 0;
  for (int vector = 0; vector < o_.vectors; vector += o_.block) {
    const double e = filter_.alpha * start_.wave(vector).energy + filter_.beta;
    for (int p = 2; p <= o_.degree; ++p) {
      const std::size_t place = std::size_t(p - 2) * norms_.size() + std::size_t(vector);
      const double norm = norms_[std::size_t(vector)], before = chebyshev(p - 1, e);
      for (const double off : {eta_[place] / norm - chebyshev(p, e) * before, mu_[place] / norm - before * before})
        if (!(std::abs(off) <= largest)) largest = std::abs(off);
    }
  }
  return largest;
}

Run RankFilter::gathered(std::int64_t runs) {
  Run run;
  run.ranks.resize(bench_.ranks.rank == 0 ? std::size_t(bench_.ranks.size) : 0);
  MPI_Gather(&own_, sizeof own_, MPI_BYTE, run.ranks.data(), sizeof own_, MPI_BYTE, 0, bench_.ranks.ranks);
  std::vector<double> work{flops_of(h_, width_), bytes_of(h_, width_)};
  for (std::vector<double>* each : {&work, &norms_, &checks_.sums()}) add_up(*each);
  if (o_.reduction == Reduction::kEnd) add_up(eta_), add_up(mu_);
  double& wave = checks_.wave_error();
  MPI_Reduce(bench_.ranks.rank == 0 ? MPI_IN_PLACE : &wave, &wave, 1, MPI_DOUBLE, MPI_MAX, 0, bench_.ranks.ranks);
  if (bench_.ranks.rank != 0) return run;
  run.steps = runs * o_.blocks() * o_.degree;
  run.flops = work[0] * double(run.steps);
  run.bytes = work[1] * double(run.steps);
  run.moments = moments();
  run.errors = checks_.errors();
  if (run.errors.wave) run.errors.moment = moment_error();
  return run;
}

}  // namespace

std::optional<Run> measure(const Bench& bench) {
  const Options& options = bench.options;
  const MPI_Comm ranks = bench.ranks.ranks;
  if (!ranks::all_succeeded(ranks, check_memory(options, bench))) return std::nullopt;
  const Bounds bounds = bounds_of(options.insulator, bench.ranks.size);
  const auto own = static_cast<std::size_t>(bench.ranks.rank);
  const auto part = part_of(options.insulator, bounds, own);
  if (!ranks::all_succeeded(ranks, part ? wire::ok() : Status{part.error()})) return std::nullopt;
  distributed::Exchange exchange(part->halo, bounds, bench.ranks, kNeighbours, 2 * options.block);
  const Filter filter = filter_of(options.window, largest_energy(options.insulator), options.degree);
  RankFilter rank(bench, filter, *part, bounds[own], exchange);
  if (bench.socket && bench.node.size == bench.ranks.size) exchange.tell_times();
  ranks::start_together(ranks, bench.node);
  for (int run = 0; run < options.repeat; ++run) rank.run();
  return rank.gathered(options.repeat);
}

}  // namespace idlewave::chebfd
