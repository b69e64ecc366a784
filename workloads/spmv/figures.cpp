#include "workloads/spmv/figures.h"

#include <algorithm>
#include <cmath>

#include "workloads/theory/hybrid.h"
#include "workloads/theory/spmv.h"

namespace idlewave::spmv {
namespace {

std::int64_t sum_of(const Run& run, std::int64_t RankFigures::*figure) {
  std::int64_t sum = 0;
  for (const RankFigures& rank : run.ranks) sum += rank.*figure;
  return sum;
}

double computing(const RankFigures& rank) {
  return rank.part(Part::kWhole) + rank.part(Part::kLocal) + rank.part(Part::kNonlocal);
}

double nonzeros_per_row(const Run& run) { return double(nonzeros_of(run)) / double(rows_of(run)); }

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::kGather: return "gather";
    case Part::kCommunication: return "communication";
    case Part::kWhole: return "product";
    case Part::kLocal: return "local";
    case Part::kNonlocal: return "nonlocal";
    case Part::kParallelRegion: return "parallel region";
  }
  return "unknown";
}

std::vector<Part> parts_of(Mode mode) {
  switch (mode) {
    case Mode::kVector: return {Part::kGather, Part::kCommunication, Part::kWhole};
    case Mode::kOverlap: return {Part::kGather, Part::kLocal, Part::kCommunication, Part::kNonlocal};
    case Mode::kTask:
    case Mode::kReserved:
    case Mode::kMultiple: break;
  }
  return {Part::kParallelRegion, Part::kNonlocal};
}

std::vector<Part> parts_inside(Mode mode) {
  if (!has_communicating_thread(mode)) return {};
  return {Part::kGather, Part::kCommunication, Part::kLocal};
}

std::int64_t rows_of(const Run& run) { return sum_of(run, &RankFigures::rows); }
std::int64_t nonzeros_of(const Run& run) { return sum_of(run, &RankFigures::nonzeros); }
std::int64_t wrong_in(const Run& run) { return sum_of(run, &RankFigures::wrong); }

double product_time(const Run& run) {
  double longest = 0;
  for (const RankFigures& rank : run.ranks) longest = std::max(longest, rank.product);
  return longest;
}

double performance(const Run& run) { return 2 * double(nonzeros_of(run)) / product_time(run); }

double compute_performance(const Run& run) {
  double sum = 0;
  for (const RankFigures& rank : run.ranks)
    if (computing(rank) > 0) sum += 2 * double(rank.nonzeros) / computing(rank);
  return sum;
}

double code_balance(const Run& run) {
  return run.way.mode == Mode::kVector ? theory::crs_code_balance(nonzeros_per_row(run), 0)
                                       : theory::split_crs_code_balance(nonzeros_per_row(run), 0);
}

std::optional<double> kappa_limit(const Run& run) {
  if (!run.triad_bandwidth) return std::nullopt;
  const auto kappa_of = run.way.mode == Mode::kVector ? theory::kappa_of : theory::split_kappa_of;
  const double kappa = kappa_of(*run.triad_bandwidth, compute_performance(run), nonzeros_per_row(run));
  if (kappa < 0) return std::nullopt;
  return kappa;
}

std::optional<Ratio> ratio_of(const Run& run, const std::vector<Run>& runs, int threads) {
  const auto vector = std::ranges::find_if(runs, [&](const Run& other) {
    return other.way.mode == Mode::kVector && other.matrix == run.matrix && other.ranks.size() == run.ranks.size();
  });
  if (run.way.reserved == 0 || vector == runs.end()) return std::nullopt;
  double communication = 0, overlap = 0, all = 0;
  for (const RankFigures& rank : vector->ranks) {
    communication += rank.part(Part::kCommunication);
    if (rank.nonzeros > 0) overlap += rank.part(Part::kWhole) * double(rank.local) / double(rank.nonzeros);
    all += rank.product;
  }
  return Ratio{product_time(*vector) / product_time(run),
               theory::funneled_reserved_ratio({communication / all, overlap / all}, threads, run.way.reserved)};
}

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const double place = percent / 100 * double(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - double(below));
}

}  // namespace idlewave::spmv
