#include "workloads/selfish/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "probe/words/quantity.h"
#include "workloads/ranks/place.h"
#include "workloads/selfish/histogram.h"
#include "workloads/support/json.h"

namespace idlewave::selfish {
namespace {

using support::Json;
using wire::seconds;
using words::format_duration;

double seconds(std::int64_t nanoseconds) { return seconds(Nanoseconds{nanoseconds}); }

/// What rank 0 hears of one rank. Nanoseconds as numbers, since it travels as bytes.
struct Row {
  std::int64_t rank;
  std::int64_t core;
  std::int64_t iterations;
  std::int64_t shortest;
  std::int64_t granularity;
  std::int64_t repeated;
  std::int64_t threshold;
  std::int64_t length;  ///< Of the whole measurement.
  std::int64_t detours;
  std::int64_t busy;  ///< All detours together.
  std::int64_t longest;
  std::int64_t longest_at;
};

double share_of(const Row& row) {
  return static_cast<double>(row.busy) / static_cast<double>(std::max<std::int64_t>(row.length, 1));
}

Row row_of(int rank, const Finding& own) {
  const NoiseTrace& trace = own.measured.trace;
  const auto longest = std::ranges::max_element(trace, {}, &support::Detour::duration);
  Nanoseconds busy{};
  for (const support::Detour& detour : trace) busy += detour.duration;
  return {rank,
          own.core,
          static_cast<std::int64_t>(own.measured.iterations),
          own.rhythm.shortest.count(),
          own.rhythm.granularity.count(),
          static_cast<std::int64_t>(own.rhythm.repeated),
          own.threshold.count(),
          trace.back().start.count(),
          static_cast<std::int64_t>(trace.size()) - 1,
          busy.count(),
          longest->duration.count(),
          longest->start.count()};
}

/// On rank 0. Collective.
std::vector<Row> gather(MPI_Comm ranks, const Finding& own) {
  const ranks::Group world = ranks::group_of(ranks);
  const Row row = row_of(world.rank, own);
  std::vector<Row> rows(world.rank == 0 ? static_cast<std::size_t>(world.size) : 0);
  MPI_Gather(&row, sizeof row, MPI_BYTE, rows.data(), sizeof row, MPI_BYTE, 0, ranks);
  return rows;
}

/// Of all ranks, on rank 0. Collective.
Histogram sum_of(MPI_Comm ranks, const Histogram& own) {
  Histogram sum;
  MPI_Reduce(own.detours.data(), sum.detours.data(), Histogram::kBins, MPI_INT64_T, MPI_SUM, 0, ranks);
  MPI_Reduce(own.nanoseconds.data(), sum.nanoseconds.data(), Histogram::kBins, MPI_INT64_T, MPI_SUM, 0, ranks);
  return sum;
}

/// Of all ranks.
struct Total {
  std::int64_t detours = 0;
  double length = 0;  ///< Seconds of all ranks, and those which detours took.
  double busy = 0;
};

Total total_of(const std::vector<Row>& rows) {
  Total total;
  for (const Row& row : rows) {
    total.detours += row.detours;
    total.length += seconds(row.length);
    total.busy += seconds(row.busy);
  }
  return total;
}

double share_of(const Total& total) { return total.busy / std::max(total.length, 1e-9); }

Json to_json(const Histogram& histogram) {
  Json bins = Json::array();
  for (std::size_t bin = 0; bin < Histogram::kBins; ++bin) {
    if (histogram.detours[bin] == 0) continue;
    const double from = seconds(begin_of_bin(bin));
    bins.push_back({{"from_s", from},
                    {"to_s", 2 * from},
                    {"detours", histogram.detours[bin]},
                    {"time_s", seconds(histogram.nanoseconds[bin])}});
  }
  return bins;
}

Json to_json(const Row& row) {
  return {{"rank", row.rank},
          {"core", row.core},
          {"duration_s", seconds(row.length)},
          {"iterations", row.iterations},
          {"shortest_s", seconds(row.shortest)},
          {"granularity_s", seconds(row.granularity)},
          {"repeated_readings", row.repeated},
          {"threshold_s", seconds(row.threshold)},
          {"detours", row.detours},
          {"share", share_of(row)},
          {"longest_s", seconds(row.longest)},
          {"longest_at_s", seconds(row.longest_at)}};
}

std::string json_of(const std::vector<Row>& rows, const Histogram& histogram) {
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(to_json(row));
  const Total total = total_of(rows);
  return Json{{"ranks", static_cast<std::int64_t>(rows.size())},
              {"detours", total.detours},
              {"share", share_of(total)},
              {"histogram", to_json(histogram)},
              {"of_ranks", list}}
             .text() +
         "\n";
}

std::string words_on_clock(const Row& row) {
  const std::string clock =
      fmt::format("clock     an iteration takes {} at least; times are multiples of {}",
                  format_duration(Nanoseconds{row.shortest}), format_duration(Nanoseconds{row.granularity}));
  if (row.repeated == 0) return clock + "\n";
  return clock +
         "\n          the clock stands still for whole iterations: detours shorter than its step can't be seen, and "
         "others are told to the step\n";
}

/// Each rank has its own, unless one is given.
std::string threshold_in_words(const std::vector<Row>& rows) {
  const auto [least, most] = std::ranges::minmax(rows, {}, &Row::threshold);
  const std::string words = format_duration(Nanoseconds{least.threshold});
  return least.threshold == most.threshold
             ? words
             : fmt::format("{} to {}, by rank", words, format_duration(Nanoseconds{most.threshold}));
}

std::string words_on_detours(const std::vector<Row>& rows) {
  const Total total = total_of(rows);
  const Row& noisiest = *std::ranges::max_element(rows, {}, [](const Row& row) { return share_of(row); });
  const Row& longest = *std::ranges::max_element(rows, {}, &Row::longest);
  std::string text =
      fmt::format("detours   {} above {}, {:.4g} a second on each rank\n", total.detours, threshold_in_words(rows),
                  static_cast<double>(total.detours) / std::max(total.length, 1e-9));
  text += fmt::format("share     {:.3g} % of the time", 100 * share_of(total));
  if (rows.size() > 1)
    text += fmt::format("; {:.3g} % on rank {}, core {}", 100 * share_of(noisiest), noisiest.rank, noisiest.core);
  if (total.detours == 0) return text + "\n";
  return text + fmt::format("\nlongest   {}, {} after the begin, on rank {}, core {}\n",
                            format_duration(Nanoseconds{longest.longest}),
                            format_duration(Nanoseconds{longest.longest_at}), longest.rank, longest.core);
}

std::string words_on(const Histogram& histogram, double length) {
  constexpr double kWidest = 40;
  const auto most = *std::ranges::max_element(histogram.detours);
  if (most == 0) return {};
  std::string text = "\n    from       to    detours  % of time\n";
  for (std::size_t bin = 0; bin < Histogram::kBins; ++bin) {
    const auto count = histogram.detours[bin];
    if (count == 0) continue;
    const auto bar = static_cast<std::size_t>(kWidest * static_cast<double>(count) / static_cast<double>(most) + 0.5);
    fmt::format_to(std::back_inserter(text), "{:>8} {:>8} {:>10} {:>10.4f}  {}\n", format_duration(begin_of_bin(bin)),
                   format_duration(2 * begin_of_bin(bin)), count,
                   100 * seconds(histogram.nanoseconds[bin]) / std::max(length, 1e-9),
                   std::string(std::max<std::size_t>(bar, 1), '#'));
  }
  return text;
}

std::string text_of(const std::vector<Row>& rows, const Histogram& histogram) {
  const auto longest = std::ranges::max_element(rows, {}, &Row::length)->length;
  return fmt::format("measured  {} rank{}, {}\n", rows.size(), rows.size() == 1 ? "" : "s",
                     format_duration(Nanoseconds{longest})) +
         words_on_clock(rows.front()) + words_on_detours(rows) + words_on(histogram, total_of(rows).length);
}

}  // namespace

std::string report(const Options& options, MPI_Comm ranks, const Finding& own) {
  const std::vector<Row> rows = gather(ranks, own);
  const Histogram histogram = sum_of(ranks, histogram_of(own.measured.trace));
  if (rows.empty()) return {};
  return options.json ? json_of(rows, histogram) : text_of(rows, histogram);
}

}  // namespace idlewave::selfish
