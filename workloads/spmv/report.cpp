#include "workloads/spmv/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "probe/wire/printable.h"
#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::spmv {
namespace {

using support::Json;

constexpr std::array<double, 7> kPercentiles{0, 10, 25, 50, 75, 90, 100};  // those of Fig. 6, and the extremes
constexpr std::size_t kFewProcesses = 32;

std::string in_words(double seconds) {
  return words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
}

std::string flops_in_words(double flops) { return fmt::format("{:.3g} Gflop/s", flops / 1e9); }

std::string about(const Way& way) {
  switch (way.mode) {
    case Mode::kVector: return "vector mode without overlap";
    case Mode::kOverlap: return "vector mode with naive overlap";
    case Mode::kReserved: return "task mode with a thread reserved for communication";
    case Mode::kMultiple:
      return fmt::format("task mode with {} reserved thread{} that share every message (multiple)", way.reserved,
                         way.reserved == 1 ? "" : "s");
    case Mode::kTask: break;
  }
  return "task mode with a communicating thread";
}

std::vector<double> of_all(const Run& run, Part part) {
  std::vector<double> values;
  for (const RankFigures& rank : run.ranks) values.push_back(rank.part(part));
  return values;
}

std::vector<Part> all_parts(Mode mode) {
  std::vector<Part> parts = parts_of(mode);
  for (const Part part : parts_inside(mode)) parts.push_back(part);
  return parts;
}

std::string label_of(Mode mode, Part part) {
  const bool inside = has_communicating_thread(mode) && part != Part::kParallelRegion && part != Part::kNonlocal;
  return fmt::format("{}{}", inside ? "  in it: " : "", name_of(part));
}

std::string memory_in_words(const Run& run) {
  std::string text = fmt::format("code balance {:.2f} B/flop (eq. {}, kappa 0)", code_balance(run),
                                 run.way.mode == Mode::kVector ? 1 : 2);
  if (!run.triad_bandwidth) return text + "\n";
  text += fmt::format("; the triad's {} would allow {}", words::format_bandwidth(*run.triad_bandwidth),
                      flops_in_words(*run.triad_bandwidth / code_balance(run)));
  if (const auto kappa = kappa_limit(run)) return text + fmt::format("; kappa at most {:.2f} B\n", *kappa);
  return text + "; kappa is not known, for the product is faster: it came from caches\n";
}

/// Fig. 6.
std::string cost_table(const Run& run) {
  std::string text = fmt::format("{:24}", "cost, time x processes");
  for (const double percent : kPercentiles) text += fmt::format("{:>9}", fmt::format("{:.0f} %", percent));
  text += "\n";
  for (const Part part : all_parts(run.way.mode)) {
    text += fmt::format("{:24}", label_of(run.way.mode, part));
    for (const double percent : kPercentiles)
      text += fmt::format("{:>9}", in_words(percentile(of_all(run, part), percent) * double(run.ranks.size())));
    text += "\n";
  }
  return text;
}

/// Figs. 7 and 9.
std::string rank_table(const Run& run) {
  std::string text =
      fmt::format("{:>7}{:>10}{:>11}{:>10}{:>6}{:>9}", "process", "rows", "nonzeros", "received", "from", "in all");
  for (const Part part : all_parts(run.way.mode)) text += fmt::format("{:>17}", name_of(part));
  text += "\n";
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    const RankFigures& own = run.ranks[rank];
    text +=
        fmt::format("{:>7}{:>10}{:>11}{:>10}{:>6}{:>9}", rank, own.rows, own.nonzeros,
                    words::format_bytes(static_cast<std::uint64_t>(own.received)), own.sources, in_words(own.product));
    for (const Part part : all_parts(run.way.mode)) text += fmt::format("{:>17}", in_words(own.part(part)));
    text += "\n";
  }
  return text;
}

std::string section(const Options& options, const Run& run) {
  const std::size_t processes = run.ranks.size();
  std::string text =
      fmt::format("\n{}, {} process{}: {} a product, {}\n", about(run.way), processes, processes == 1 ? "" : "es",
                  in_words(product_time(run)), flops_in_words(performance(run)));
  if (options.kernel == Kernel::kVirtual)
    text += fmt::format("traffic on virtual sockets by a code balance of {:.2f} B/flop\n", code_balance(run));
  else
    text += memory_in_words(run);
  text += cost_table(run);
  if (processes <= kFewProcesses) return text + rank_table(run);
  return text + fmt::format("The {} processes one by one: --json.\n", processes);
}

/// Fig. 6, the slowest process: what does not grow with the processes scales.
std::string overview(const std::vector<Run>& runs) {
  std::string text = fmt::format("\n{:>9}  {:8}{:>10}{:>12}{:>18}{:>16}  {}\n", "processes", "mode", "reserved",
                                 "a product", "x processes", "performance", "matrix");
  for (const Run& run : runs) {
    const double time = product_time(run);
    fmt::format_to(std::back_inserter(text), "{:>9}  {:8}{:>10}{:>12}{:>18}{:>16}  {}\n", run.ranks.size(),
                   name_of(run.way.mode), run.way.reserved, in_words(time), in_words(time * double(run.ranks.size())),
                   flops_in_words(performance(run)), wire::printable(run.matrix));
  }
  return text;
}

/// rabenseifner-2007, slide "Performance ratio (theory)".
std::string ratios(const Options& options, const std::vector<Run>& runs) {
  std::string text;
  for (const Run& run : runs)
    if (const auto ratio = ratio_of(run, runs, options.threads))
      text += fmt::format(
          "\n{}, {} processes, {} with {} of {} threads: {:.2f} times as fast as masteronly; theory {:.2f}\n",
          wire::printable(run.matrix), run.ranks.size(), name_of(run.way.mode), run.way.reserved, options.threads,
          ratio->measured, ratio->theory);
  return text;
}

std::string right_or_wrong(const std::vector<Run>& runs) {
  for (const Run& run : runs)
    if (wrong_in(run) > 0) return "";
  if (std::ranges::any_of(runs, [](const Run& run) { return run.symmetry_error.has_value(); }))
    return "\nSampled rows agree with a serial product, and x1 A x0 with x0 A x1 where the matrix is symmetric.\n";
  return "\nSampled rows agree with a serial product.\n";
}

std::string key_of(Part part) {
  std::string key{name_of(part)};
  std::ranges::replace(key, ' ', '_');
  return key;
}

Json to_json(const RankFigures& rank, Mode mode) {
  Json seconds;
  for (const Part part : all_parts(mode)) seconds[key_of(part)] = rank.part(part);
  return {{"rows", rank.rows},       {"nonzeros", rank.nonzeros}, {"received_bytes", rank.received},
          {"sources", rank.sources}, {"product_s", rank.product}, {"parts_s", seconds},
          {"wrong", rank.wrong}};
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const Run& run, const std::vector<Run>& runs, const Options& options) {
  const auto ratio = ratio_of(run, runs, options.threads);
  Json ranks = Json::array();
  for (const RankFigures& rank : run.ranks) ranks.push_back(to_json(rank, run.way.mode));
  Json cost;
  for (const Part part : parts_of(run.way.mode)) {
    Json box = Json::array();
    for (const double percent : kPercentiles)
      box.push_back(percentile(of_all(run, part), percent) * double(run.ranks.size()));
    cost[key_of(part)] = box;
  }
  return {{"matrix", run.matrix},
          {"rows", rows_of(run)},
          {"nonzeros", nonzeros_of(run)},
          {"mode", name_of(run.way.mode)},
          {"reserved", run.way.reserved},
          {"processes", static_cast<std::uint64_t>(run.ranks.size())},
          {"product_s", product_time(run)},
          {"flop_per_s", performance(run)},
          {"compute_flop_per_s", options.kernel == Kernel::kReal ? Json(compute_performance(run)) : Json()},
          {"code_balance_bytes_per_flop", code_balance(run)},
          {"triad_bandwidth", or_null(run.triad_bandwidth)},
          {"kappa_limit", or_null(kappa_limit(run))},
          {"form", run.form},
          {"symmetry_error", or_null(run.symmetry_error)},
          {"wrong", wrong_in(run)},
          {"ratio", ratio ? Json(ratio->measured) : Json()},
          {"theory_ratio", ratio ? Json(ratio->theory) : Json()},
          {"cost_s", cost},
          {"ranks", ranks}};
}

std::string head(const Options& options, const Run& run) {
  return fmt::format(
      "{}: {} rows, {} nonzeros, {:.2f} in a row; distributed by {}, {} computing thread{} in each process\n",
      wire::printable(run.matrix), rows_of(run), nonzeros_of(run), double(nonzeros_of(run)) / double(rows_of(run)),
      options.distribution == Distribution::kRows ? "rows" : "nonzeros", options.threads,
      options.threads == 1 ? "" : "s");
}

}  // namespace

std::string tables(const Options& options, const std::vector<Run>& runs) {
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == 0 || runs[i].matrix != runs[i - 1].matrix) text += (i == 0 ? "" : "\n") + head(options, runs[i]);
    text += section(options, runs[i]);
  }
  if (runs.size() > 1) text += overview(runs);
  return text + ratios(options, runs) + right_or_wrong(runs);
}

std::string json(const Options& options, const std::vector<Run>& runs) {
  Json list = Json::array();
  for (const Run& run : runs) list.push_back(to_json(run, runs, options));
  return Json{{"distribute", options.distribution == Distribution::kRows ? "rows" : "nonzeros"},
              {"threads", options.threads},
              {"products", options.products},
              {"kernel", words::word_of(options.kernel, ranks::kKernels)},
              {"percentiles", std::vector<double>(kPercentiles.begin(), kPercentiles.end())},
              {"runs", list}}
      .text();
}

}  // namespace idlewave::spmv
