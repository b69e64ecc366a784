#include "monitor/view/map/ghost_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "monitor/view/paint/figures.h"

namespace idlewave::view::map {
namespace {

using analysis::program::Departure;
using analysis::program::Ghost;
using analysis::steps::RankStep;
using paint::Ink;

/// Of a step: ordinary noise stays calm.
constexpr float kShows = 0.05f;
constexpr int kShades = 8;

void put(DepartureCell& cell, Nanoseconds departure, const Ghost& ghost) {
  const auto steps = static_cast<float>(departure.count()) / static_cast<float>(ghost.step.count());
  if (!cell.known || std::abs(steps) > std::abs(cell.steps)) cell.steps = steps;
  cell.known = true;
}

Nanoseconds larger(const Departure& departure) {
  const Nanoseconds at_work = departure.at_work.value_or(Nanoseconds{0});
  return std::chrono::abs(at_work) > std::chrono::abs(departure.waiting) ? at_work : departure.waiting;
}

/// Calls visit(row, rank as index).
template <class Visit>
void for_each_rank(const Ghost& ghost, std::span<const RankRange> rows, Visit visit) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (Rank rank = rows[row].first; rank < std::min(rows[row].last, ghost.ranks()); ++rank)
      visit(row, static_cast<std::size_t>(rank));
  }
}

/// "0.2 ms later".
std::string later_or_earlier(Nanoseconds departure) {
  if (departure == Nanoseconds{0}) return "as the model";
  return paint::to_duration(std::chrono::abs(departure)) + (departure < Nanoseconds{0} ? " earlier" : " later");
}

std::string in_words(const Departure& departure) {
  const std::string waiting = later_or_earlier(departure.waiting) + " by waiting";
  if (!departure.at_work) return waiting;
  return later_or_earlier(*departure.at_work) + " at work, " + waiting;
}

std::string most_in_words(const Departure& departure) {
  const Nanoseconds most = larger(departure);
  return later_or_earlier(most) + (most == departure.waiting ? " by waiting" : " at work");
}

}  // namespace

const Ghost* ghost_shown(const State& state, const Model& model) {
  const bool shown = state.ghost && model.ghost != nullptr && *model.ghost;
  return shown ? &**model.ghost : nullptr;
}

void departures_over_time(const Ghost& ghost, std::span<const RankRange> rows, const layout::TimeWindow& window,
                          std::span<DepartureCell> out) {
  for_each_rank(ghost, rows, [&](std::size_t row, std::size_t rank) {
    const std::span cells =
        out.subspan(row * static_cast<std::size_t>(window.columns), static_cast<std::size_t>(window.columns));
    const auto fill = [&](Nanoseconds from, Nanoseconds to, Nanoseconds departure) {
      if (from >= to || to <= window.from() || from >= window.to()) return;
      const auto last = std::min<std::int64_t>(window.x_of(to - Nanoseconds(1)), window.columns - 1);
      for (auto x = std::max<std::int64_t>(window.x_of(from), 0); x <= last; ++x)
        put(cells[static_cast<std::size_t>(x)], departure, ghost);
    };
    for (std::size_t k = 0; k < ghost.steps.steps(); ++k) {
      const RankStep& step = ghost.steps.ranks[rank][k];
      const Departure& departure = ghost.departures[rank][k];
      if (departure.at_work) fill(step.begin, step.post, *departure.at_work);
      fill(step.post, step.end, departure.waiting);
    }
  });
}

void departures_over_steps(const Ghost& ghost, std::span<const RankRange> rows, const layout::StepWindow& window,
                           std::span<DepartureCell> out) {
  for_each_rank(ghost, rows, [&](std::size_t row, std::size_t rank) {
    for (std::size_t k = 0; k < ghost.steps.steps(); ++k) {
      if (!window.shows(ghost.steps.numbers[k])) continue;
      const auto x = static_cast<std::size_t>(window.x_of(ghost.steps.numbers[k]));
      put(out[row * static_cast<std::size_t>(window.columns) + x], larger(ghost.departures[rank][k]), ghost);
    }
  });
}

Ink ink_of(const DepartureCell& cell) {
  if (!cell.known) return Ink::kNoData;
  if (cell.steps <= -kShows) return Ink::kOther;
  if (cell.steps < kShows) return Ink::kCompute;
  const int shade = static_cast<int>((cell.steps - kShows) / (1 - kShows) * kShades);
  return static_cast<Ink>(static_cast<int>(Ink::kWait0) + std::min(shade, kShades - 1));
}

float later_from(int shade) { return kShows + (1 - kShows) * static_cast<float>(shade) / kShades; }

std::string departure_in_words(const Ghost& ghost, Rank rank, Nanoseconds at) {
  if (rank >= ghost.ranks()) return {};
  const auto& steps = ghost.steps.ranks[static_cast<std::size_t>(rank)];
  const auto after = std::ranges::upper_bound(steps, at, {}, &RankStep::begin);
  if (after == steps.begin() || std::prev(after)->end <= at) return {};
  const auto k = static_cast<std::size_t>(after - steps.begin()) - 1;
  return in_words(ghost.departures[static_cast<std::size_t>(rank)][k]);
}

std::vector<std::string> ghost_in_words(const wire::Result<Ghost>& ghost) {
  if (!ghost) return {"no ghost: " + ghost.error().message, "no ghost"};
  const analysis::program::DepartureSums sums = analysis::program::sum_of(*ghost, 1);
  const std::string brief =
      fmt::format("ghost: {} % of the time is not the model's", paint::to_figure(100 * sums.share));
  if (sums.largest.empty()) return {brief};
  const analysis::program::LargestDeparture& most = sums.largest.front();
  return {fmt::format("{}, most by rank {}, step {}: {}", brief, most.rank, ghost->steps.numbers[most.step],
                      most_in_words(most.departure)),
          fmt::format("{}, most by rank {}", brief, most.rank), brief};
}

}  // namespace idlewave::view::map
