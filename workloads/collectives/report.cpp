#include "workloads/collectives/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "probe/words/quantity.h"
#include "workloads/ranks/count.h"
#include "workloads/support/json.h"
#include "workloads/theory/overlap.h"

namespace idlewave::collectives {
namespace {

using support::Json;
using wire::seconds;

std::string in_words(double time) { return words::format_duration(Nanoseconds{static_cast<std::int64_t>(time * 1e9)}); }

/// W and c + n of a rank hold what noise made longer, so their ratio is beta / inflation of eqs. 6 and 7; in silence it
/// is beta of eqs. 4 and 5.
double bound_of(const Measured& own) {
  constexpr double kShortest = 1e-9;
  return theory::overlap_bound(std::max(seconds(own.work), kShortest) / std::max(seconds(own.collective), kShortest));
}

double speedup_of(const Comparison& each) { return each.blocking.makespan / each.nonblocking.makespan; }

Json to_json(const Comparison& each) {
  return {{"collective", each.collective},
          {"noise", each.noise},
          {"blocking_s", each.blocking.makespan},
          {"nonblocking_s", each.nonblocking.makespan},
          {"speedup", speedup_of(each)},
          {"speedup_bound", each.blocking.bound},
          {"slowdown_blocking", each.slowdown_blocking},
          {"slowdown_nonblocking", each.slowdown_nonblocking},
          {"work_mean_s", each.blocking.work_mean},
          {"collective_mean_s", each.blocking.collective_mean},
          {"work_mean_nonblocking_s", each.nonblocking.work_mean},
          {"collective_mean_nonblocking_s", each.nonblocking.collective_mean},
          {"wrong", each.blocking.wrong + each.nonblocking.wrong}};
}

std::string json_of(const Options& o, int ranks, bool asleep, const std::vector<Comparison>& comparisons) {
  Json list = Json::array();
  for (const Comparison& each : comparisons) list.push_back(to_json(each));
  return Json{{"ranks", ranks},     {"steps", o.steps}, {"work_s", seconds(o.work)},
              {"size", o.size},     {"tests", o.tests}, {"waiting", asleep ? "asleep" : "polling"},
              {"comparisons", list}}
             .text() +
         "\n";
}

std::size_t widest_noise(const std::vector<Comparison>& comparisons) {
  std::size_t widest = std::string_view{"noise"}.size();
  for (const Comparison& each : comparisons) widest = std::max(widest, each.noise.size());
  return widest;
}

std::string text_of(const Options& o, int ranks, bool asleep, const std::vector<Comparison>& comparisons) {
  std::string text = fmt::format("{}, {} steps, {} of work, blocks of {}, {} tests; waiting {}\n\n",
                                 ranks::ranks_in_words(ranks), o.steps, words::format_duration(o.work),
                                 words::format_bytes(o.size), o.tests, asleep ? "asleep" : "polling");
  const std::size_t wide = widest_noise(comparisons);
  text += fmt::format("{:{}} time to solution                     slowdown by noise\n", "", wide + 16);
  text +=
      fmt::format("collective  {:<{}}  blocking  nonblocking  speed-up  bound  blocking  nonblocking\n", "noise", wide);
  for (const Comparison& each : comparisons) {
    fmt::format_to(std::back_inserter(text), "{:<11} {:<{}} {:>9} {:>12} {:>9.3f} {:>6.3f} {:>9.3f} {:>12.3f}\n",
                   each.collective, each.noise, wide, in_words(each.blocking.makespan),
                   in_words(each.nonblocking.makespan), speedup_of(each), each.blocking.bound, each.slowdown_blocking,
                   each.slowdown_nonblocking);
  }
  return text +
         "\nbound: speed-up by overlap with one stretch of work, at most (Widener et al. 2016, eqs. 3 to 7), of the "
         "work and collectives of the blocking run\n";
}

}  // namespace

Outcome outcome_of(const Measured& own, MPI_Comm ranks) {
  const std::array<double, 2> extremes{seconds(own.total), bound_of(own)};
  const std::array<double, 3> sums{seconds(own.work), seconds(own.collective), static_cast<double>(own.wrong)};
  std::array<double, 2> largest{};
  std::array<double, 3> all{};
  MPI_Allreduce(extremes.data(), largest.data(), largest.size(), MPI_DOUBLE, MPI_MAX, ranks);
  MPI_Allreduce(sums.data(), all.data(), all.size(), MPI_DOUBLE, MPI_SUM, ranks);
  const double size = ranks::group_of(ranks).size;
  return {largest[0], all[0] / size, all[1] / size, largest[1], static_cast<std::uint64_t>(all[2])};
}

std::string report(const Options& options, int ranks, bool asleep, const std::vector<Comparison>& comparisons) {
  return options.json ? json_of(options, ranks, asleep, comparisons) : text_of(options, ranks, asleep, comparisons);
}

}  // namespace idlewave::collectives
