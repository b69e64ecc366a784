#include "monitor/view/panels/functions_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "monitor/analysis/plural.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/panels/listing.h"

namespace idlewave::view::panels {

namespace {

using analysis::session::FunctionUse;

int function_lines(const Model& model) {
  return model.findings.mpi ? static_cast<int>(model.findings.mpi->functions.size()) : 0;
}

std::string duration_of(double seconds) {
  return paint::to_duration(Nanoseconds(std::llround(std::min(seconds * 1e9, 9e18))));
}

std::vector<std::string> functions_headline(const Model& model) {
  const auto& mpi = model.findings.mpi;
  if (!mpi || mpi->functions.empty())
    return {
        "no rank has told of MPI calls: the library that run preloads counts them, not in programs that report by "
        "themselves",
        "no rank has told of MPI calls: a program that reports by itself counts none", "no rank has told of MPI calls"};
  double all_s = 0;
  for (const FunctionUse& use : mpi->functions) all_s += use.time_s;
  const std::string ranks = analysis::plural(mpi->ranks, "rank"), time = duration_of(all_s);
  const std::string cut = mpi->is_cut ? "; some ranks are left out for want of room" : "";
  const std::uint64_t calls = model.timeline.calls().unseen();
  const std::string unseen =
      calls > 0 ? fmt::format("; {} calls of other threads unseen", paint::to_count(double(calls))) : "";
  return {fmt::format("MPI of {} in the whole run so far: {} in all functions, summed over ranks{}{}", ranks, time, cut,
                      unseen),
          fmt::format("MPI of {} so far: {} in all, summed{}{}", ranks, time, cut, unseen),
          fmt::format("MPI of {} so far: {} in all{}", ranks, time, unseen),
          fmt::format("MPI of {} so far: {} in all", ranks, time)};
}

std::vector<Column> function_columns(const State& state) {
  return {{"function", 26, true}, {"of MPI", 7, false},
          {"time", 11, false},    {fmt::format("rank {}", state.cursor_rank), 13, false},
          {"calls", 9, false},    {"mean", 11, false},
          {"bytes", 11, false},   {"longest", 11, false},
          {"on rank", 9, false}};
}

/// Of one rank: nothing is told of one that has not called it, as of one of which nothing is known.
std::string time_of_rank(const Model& model, Rank rank, const std::string& function) {
  const wire::RankCalls* calls = model.timeline.calls().of(rank);
  if (calls == nullptr) return "–";
  const auto found = std::ranges::find(calls->functions, function, &wire::FunctionSums::name);
  return found == calls->functions.end() ? "–" : paint::to_duration(found->time);
}

ListingLine function_line(const State& state, const Model& model, std::size_t line) {
  const FunctionUse& use = model.findings.mpi->functions[line];
  return {.cells = {use.name, paint::to_percent(use.share), duration_of(use.time_s),
                    time_of_rank(model, state.cursor_rank, use.name), paint::to_count(double(use.calls)),
                    duration_of(use.mean_s()), use.bytes ? paint::to_bytes(*use.bytes) : "–",
                    paint::to_duration(use.longest), fmt::format("{}", use.longest_rank)},
          .is_marked = false};
}

constexpr Listing kFunctions{.key = U'6',
                             .name = "functions",
                             .headline = functions_headline,
                             .columns = function_columns,
                             .lines = function_lines,
                             .line = function_line};

}  // namespace

layout::Panel functions_panel() { return listing_panel<kFunctions>(); }

}  // namespace idlewave::view::panels
