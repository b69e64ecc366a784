#include "workloads/chebfd/report.h"

#include <fmt/format.h>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::chebfd {
namespace {

using support::Json;

constexpr std::size_t kFewProcesses = 32;

std::string in_words(double seconds) {
  return words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
}

std::string flops_in_words(double flops) {
  return flops < 1e8 ? fmt::format("{:.3g} Mflop/s", flops / 1e6) : fmt::format("{:.3g} Gflop/s", flops / 1e9);
}

std::string heading(const Options& o, const Run& run) {
  const auto [x, y, z] = o.insulator.size;
  std::int64_t nonzeros = 0;
  for (const RankFigures& rank : run.ranks) nonzeros += rank.nonzeros;
  return fmt::format(
      "Topi-{}-{}-{}: {} rows, {} nonzeros; window {:g} to {:g}, degree {}, {} vector{} in blocks of {}{}\n", x, y, z,
      rows_of(o.insulator), nonzeros, o.window.lowest, o.window.highest, o.degree, o.vectors, o.vectors == 1 ? "" : "s",
      o.block, o.repeat == 1 ? "" : fmt::format(", {} times", o.repeat));
}

std::string rank_table(const Run& run) {
  std::string text =
      fmt::format("{:>7}{:>10}{:>11}{:>10}{:>6}{:>9}{:>9}{:>15}{:>11}{:>9}\n", "process", "rows", "nonzeros",
                  "received", "from", "in all", "gather", "communication", "reduction", "compute");
  for (std::size_t number = 0; number < run.ranks.size(); ++number) {
    const RankFigures& rank = run.ranks[number];
    text += fmt::format("{:>7}{:>10}{:>11}{:>10}{:>6}{:>9}{:>9}{:>15}{:>11}{:>9}\n", number, rank.rows, rank.nonzeros,
                        words::format_bytes(static_cast<std::uint64_t>(rank.received)), rank.sources,
                        in_words(rank.filter), in_words(rank.gather), in_words(rank.communication),
                        in_words(rank.reduction), in_words(rank.compute));
  }
  return text;
}

std::string errors_in_words(const Errors& errors) {
  std::string text;
  if (errors.wave)
    text += fmt::format("Plane waves are off by {:.1e} at most, their scalar products by {:.1e}. ", *errors.wave,
                        *errors.moment);
  if (errors.symmetry) text += fmt::format("<f(H) x, y> and <x, f(H) y> differ by {:.1e} at most.", *errors.symmetry);
  return text.empty() ? "The result was not checked: with --disorder that takes --block 2 or more.\n" : text + "\n";
}

Json to_json(const RankFigures& rank) {
  return {{"rows", rank.rows},
          {"nonzeros", rank.nonzeros},
          {"received_bytes", rank.received},
          {"sources", rank.sources},
          {"filter_s", rank.filter},
          {"parts_s",
           {{"gather", rank.gather},
            {"communication", rank.communication},
            {"reduction", rank.reduction},
            {"compute", rank.compute}}}};
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::string tables(const Options& options, const Run& run) {
  const std::size_t processes = run.ranks.size();
  std::string text = heading(options, run);
  text +=
      fmt::format("{} process{}, {} thread{} each: {} in all, {} a step, {}\n", processes, processes == 1 ? "" : "es",
                  options.threads, options.threads == 1 ? "" : "s", in_words(filter_time(run)),
                  in_words(filter_time(run) / double(run.steps)), flops_in_words(performance(run)));
  text += fmt::format("code balance {:.2f} B/flop (eq. 3), so {}{}\n", code_balance(run),
                      words::format_bandwidth(bandwidth(run)),
                      options.kernel == Kernel::kVirtual ? " on virtual sockets" : " if no vector stays in a cache");
  text +=
      processes <= kFewProcesses ? rank_table(run) : fmt::format("The {} processes one by one: --json.\n", processes);
  return text + errors_in_words(run.errors);
}

std::string json(const Options& o, const Run& run) {
  Json ranks = Json::array();
  for (const RankFigures& rank : run.ranks) ranks.push_back(to_json(rank));
  const auto [x, y, z] = o.insulator.size;
  const Json object{{"size", Json(std::vector<int>{x, y, z})},
                    {"rows", rows_of(o.insulator)},
                    {"disorder", o.insulator.disorder},
                    {"window", Json(std::vector<double>{o.window.lowest, o.window.highest})},
                    {"degree", o.degree},
                    {"vectors", o.vectors},
                    {"block", o.block},
                    {"threads", o.threads},
                    {"processes", std::int64_t(run.ranks.size())},
                    {"steps", run.steps},
                    {"filter_s", filter_time(run)},
                    {"flop_per_s", performance(run)},
                    {"code_balance_bytes_per_flop", code_balance(run)},
                    {"bandwidth_bytes_per_s", bandwidth(run)},
                    {"wave_error", or_null(run.errors.wave)},
                    {"moment_error", or_null(run.errors.moment)},
                    {"symmetry_error", or_null(run.errors.symmetry)},
                    {"eta", Json(run.moments.eta)},
                    {"mu", Json(run.moments.mu)},
                    {"ranks", ranks}};
  return object.text();
}

}  // namespace idlewave::chebfd
