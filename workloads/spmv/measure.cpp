#include "workloads/spmv/measure.h"

#include <fmt/format.h>
#include <idlewave/probe.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "workloads/ranks/agreement.h"
#include "workloads/spmv/test_vector.h"
#include "workloads/spmv/triad.h"
#include "workloads/support/pause.h"

namespace idlewave::spmv {
namespace {

using support::monotonic_now;
using wire::Error;
using wire::Status;

/// Own elements of a test vector, and room for those of others, which no product may take as they are.
std::vector<double> with_room(std::size_t vector, const sparse::Rows& rows, const sparse::Halo& halo) {
  std::vector<double> x(static_cast<std::size_t>(rows.count()) + halo.columns.size(), std::nan(""));
  for (sparse::Index row = 0; row < rows.count(); ++row) x[std::size_t(row)] = element(vector, rows.first + row);
  return x;
}

bool sleeps(Mode mode, const Bench& bench) {
  const Options& options = bench.options;
  if (options.waiting != Waiting::kAuto) return options.waiting == Waiting::kAsleep;
  const int threads = options.threads + (mode == Mode::kTask ? 1 : 0);
  return options.kernel == Kernel::kVirtual || bench.node.size * threads > int(std::thread::hardware_concurrency());
}

Manner manner_of(const Way& way, const Bench& bench) {
  return {bench.options.threads, sleeps(way.mode, bench), bench.seats, bench.options.message_bandwidth};
}

/// The products of one way on one rank, with both vectors in turn.
class Products {
 public:
  Products(const Way& way, const Bench& bench, const sparse::Rows& rows, const sparse::Halo& halo,
           distributed::Exchange& exchange)
      : bench_(bench), rows_(rows), samples_(rows), product_(way, rows, halo, manner_of(way, bench), exchange) {
    for (std::size_t vector = 0; vector < kVectors; ++vector) {
      x_[vector] = with_room(vector, rows, halo);
      y_[vector].assign(static_cast<std::size_t>(rows.count()), std::nan(""));
    }
    own_.rows = rows.count();
    own_.nonzeros = static_cast<std::int64_t>(rows.entries.size());
    own_.local = std::ranges::count_if(rows.entries, [&](const sparse::Entry& entry) {
      return entry.column >= rows.first && entry.column < rows.end();
    });
    own_.received = static_cast<std::int64_t>(halo.columns.size() * sizeof(double));
    own_.sources = static_cast<std::int64_t>(halo.sources.size());
  }

  RankFigures run(std::int64_t products) {
    constexpr std::int64_t kWarmUp = 2;
    repeat(kWarmUp);
    own_.seconds = {};
    ranks::start_together(bench_.ranks.ranks, bench_.node);
    const double time = repeat(products);
    for (double& part : own_.seconds) part /= double(products);
    own_.product = time / double(products);
    return own_;
  }

  Forms forms() const {
    Forms forms;
    for (std::size_t vector = 0; vector < kVectors; ++vector) add_product(vector, rows_, y_[vector], forms);
    return forms;
  }

 private:
  /// Seconds of products, without the looks at their results.
  double repeat(std::int64_t products) {
    wire::Nanoseconds time{};
    product_.with_team([&] {
      for (std::int64_t number = 0; number < products; ++number) {
        const auto vector = static_cast<std::size_t>(number) % kVectors;
        idlewave_step(bench_.step++);
        const wire::Nanoseconds begin = monotonic_now();
        product_.run(x_[vector], y_[vector], own_.seconds);
        time += monotonic_now() - begin;
        own_.wrong += samples_.wrong(vector, y_[vector]);
      }
    });
    return std::chrono::duration<double>(time).count();
  }

  const Bench& bench_;
  const sparse::Rows& rows_;
  Samples samples_;
  Product product_;
  std::array<std::vector<double>, kVectors> x_;
  std::array<std::vector<double>, kVectors> y_;
  RankFigures own_;
};

Forms sum_of_all(Forms own, MPI_Comm ranks) {
  std::array<double, 3> sums{own.x1_A_x0, own.x0_A_x1, own.magnitude};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), sums.size(), MPI_DOUBLE, MPI_SUM, ranks);
  return {sums[0], sums[1], sums[2]};
}

/// Of a matrix of zeros there is nothing to divide by.
double asymmetry(const Forms& forms) {
  const double difference = std::abs(forms.x1_A_x0 - forms.x0_A_x1);
  return difference == 0 ? 0 : difference / forms.magnitude;
}

std::vector<RankFigures> gathered(const RankFigures& own, const ranks::Group& ranks) {
  static_assert(std::is_trivially_copyable_v<RankFigures>);
  std::vector<RankFigures> all(ranks.rank == 0 ? static_cast<std::size_t>(ranks.size) : 0);
  MPI_Gather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, 0, ranks.ranks);
  return all;
}

Run measure_way(const Way& way, const Bench& bench, const Distributed& matrix, const sparse::Halo& halo,
                distributed::Exchange& exchange) {
  Products products(way, bench, matrix.rows, halo, exchange);
  const RankFigures own = products.run(bench.options.products);
  const Forms forms = sum_of_all(products.forms(), bench.ranks.ranks);
  Run run{way, gathered(own, bench.ranks), name_of(bench.matrix), forms.x1_A_x0};
  if (matrix.symmetric) run.symmetry_error = asymmetry(forms);
  return run;
}

}  // namespace

std::optional<std::vector<Run>> measure(const Bench& bench) {
  const MPI_Comm ranks = bench.ranks.ranks;
  const auto matrix = distribute(bench.matrix, bench.options.distribution, bench.ranks, bench.node);
  if (!matrix) return std::nullopt;
  const sparse::Halo halo = sparse::halo_of(matrix->rows, matrix->bounds);
  const Status fits = sparse::fits(matrix->rows, halo)
                          ? wire::ok()
                          : Status{Error{"a process has more than 2147483647 elements; start more processes"}};
  if (!ranks::all_succeeded(ranks, fits)) return std::nullopt;
  distributed::Exchange exchange(halo, matrix->bounds, bench.ranks, bench.pattern, 1);
  std::optional<double> bandwidth;
  if (bench.options.triad) {
    bandwidth = triad_bandwidth(bench.ranks, bench.node, bench.options.threads);
    if (!bandwidth) return std::nullopt;
  }
  std::vector<Run> runs;
  for (const Way& way : ways_of(bench.options)) {
    runs.push_back(measure_way(way, bench, *matrix, halo, exchange));
    runs.back().triad_bandwidth = bandwidth;
  }
  return runs;
}

}  // namespace idlewave::spmv
