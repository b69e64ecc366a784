#include "monitor/analysis/waves/front_speed.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "monitor/analysis/waves/walk_fit.h"

namespace idlewave::analysis::waves {
namespace {

/// Of a speed: a standard error below this is that of rounding.
constexpr double kOfRounding = 1e-6;

/// Of its first idle time: with less a front comes on only where others happen to wait for it.
constexpr double kLeastLeft = 0.25;

/// Of a speed: a standard error above this leaves nothing known of it.
constexpr double kNothingKnown = 0.5;

/// Of points that are fitted.
struct Place {
  const FrontPoint* point = nullptr;
  unsigned of_arrivals = 0, of_departures = 0;
  int distance() const { return std::abs(point->position); }
};
using Places = std::vector<Place>;

/// The farthest that the front came to in each step, and in none before, as long as there is enough left of it to run on by
/// itself. `front`: by distance.
Places edge_of(Places front) {
  const double least = kLeastLeft * double(front.front().point->idle.count());
  while (double(front.back().point->idle.count()) < least) front.pop_back();
  Places edge;
  for (auto place = front.rbegin(); place != front.rend(); ++place)
    if (edge.empty() || place->point->step < edge.back().point->step) edge.push_back(*place);
  std::ranges::reverse(edge);
  return edge;
}

/// Near its end, where there is nobody to leap to, without what it came to by shorter leaps.
void leave_out_short_leaps(Places& edge, int hop) {
  const int end = edge.empty() ? 0 : edge.back().distance();
  const auto leap = [&] { return edge.back().distance() - (edge.size() > 1 ? edge[edge.size() - 2].distance() : 0); };
  while (!edge.empty() && edge.back().distance() > end - hop && leap() < hop) edge.pop_back();
}

/// Steps of the place's rank after `after`, up to the one in which the front came to it, in which it waits for somebody that
/// way: in a cycle of steps it need not do so in each.
int chances(const timeline::Timeline& timeline, const partners::Partners& partners, int sign, const Place& place,
            wire::Step after) {
  const FrontPoint& point = *place.point;
  const timeline::Lane* lane = timeline.lane(point.rank);
  if (!lane) return 0;
  const auto steps = lane->steps();
  int chances = 0;
  wire::Step step = point.step;
  for (std::size_t i = lane->steps_begun_before(point.arrival + Nanoseconds{1}); i-- > 0;) {
    if (steps[i].step > step || steps[i].step <= after) break;
    step = steps[i].step;
    chances += std::ranges::any_of(partners.awaited(point.rank, step), [&](Rank offset) { return offset * sign < 0; });
  }
  return chances;
}

/// Steps in which a front went on, from a place of its edge to the next, and in which it stood still.
struct Headway {
  double went_on = 0, stood = 0;
  double gained() const { return went_on - stood; }
};

/// It comes `hop` ranks far in a step, also over ranks that show nothing of it. Where another wave held it up, that is neither.
std::vector<Headway> headway(const timeline::Timeline& timeline, const partners::Partners& partners, int sign,
                             const Places& edge, int hop) {
  std::vector<Headway> headway;
  for (std::size_t i = 1; i < edge.size(); ++i) {
    const Place &here = edge[i], &before = edge[i - 1];
    headway.emplace_back();
    if (here.of_departures != before.of_departures) continue;
    const double steps = chances(timeline, partners, sign, here, before.point->step);
    const double to_go = std::max(1.0, double(here.distance() - before.distance()) / hop);
    headway.back() = {std::min(to_go, steps), std::max(0.0, steps - to_go)};
  }
  return headway;
}

/// Where the front gained most: noise may hold it up for long, and what is then seen of it lies on no line any more. Nothing
/// where that is not most of the edge, and where two places are all that tells its speed, and it stood still between them.
Places moving_part(const Places& edge, const std::vector<Headway>& headway) {
  double best = 0, gained = 0;
  std::size_t from = 0, best_from = 0, best_to = 0;
  for (std::size_t i = 0; i < headway.size(); ++i) {
    if (gained < 0) gained = 0, from = i;
    gained += headway[i].gained();
    if (gained > best) best = gained, best_from = from, best_to = i + 1;
  }
  const std::size_t places = best_to - best_from + 1;
  if (best <= 0 || 2 * places <= edge.size() || (places == 2 && headway[best_from].stood >= 1)) return {};
  return {edge.begin() + std::ptrdiff_t(best_from), edge.begin() + std::ptrdiff_t(best_to) + 1};
}

/// Of these points, over each other.
std::optional<Estimate> fit(const Places& places, unsigned Place::*stretch, std::span<const double> x,
                            std::span<const double> y) {
  std::vector<unsigned> stretches;
  for (const Place& place : places) stretches.push_back(place.*stretch);
  return fitted_walk(x, y, stretches);
}

std::vector<double> distances_of(const Places& places) {
  std::vector<double> distances;
  for (const Place& place : places) distances.push_back(double(place.distance()));
  return distances;
}

std::vector<double> seconds_of(const Places& places, Nanoseconds FrontPoint::*time) {
  std::vector<double> seconds;
  for (const Place& place : places) seconds.push_back(double((place.point->*time).count()) * 1e-9);
  return seconds;
}

/// Where ranks farther away were reached sooner there is none.
std::optional<Estimate> if_known(const std::optional<Estimate>& speed) {
  if (!speed || speed->value <= 0) return std::nullopt;
  return speed->error && *speed->error > kNothingKnown * speed->value ? std::nullopt : speed;
}

/// Time over distance is fitted: moments vary, places don't.
std::optional<Estimate> ranks_per_s(const Places& edge, unsigned Place::*stretch, Nanoseconds FrontPoint::*time) {
  return if_known(inverse(fit(edge, stretch, distances_of(edge), seconds_of(edge, time))));
}

std::optional<Estimate> ranks_per_step(const Places& edge) {
  std::vector<double> steps;
  for (const Place& place : edge) steps.push_back(double(place.point->step));
  return if_known(fit(edge, &Place::of_departures, steps, distances_of(edge)));
}

/// The largest between two ranks of which one was reached by the other; 0 on one node, nothing where it is not known.
std::optional<Nanoseconds> clock_error(const timeline::Timeline& timeline, Rank origin,
                                       const std::vector<FrontPoint>& front) {
  Nanoseconds largest{};
  Rank before = origin;
  for (const FrontPoint& point : front) {
    const auto error = timeline.clock_error(before, point.rank);
    if (!error) return std::nullopt;
    largest = std::max(largest, *error);
    before = point.rank;
  }
  return largest;
}

void withhold_blurred(const timeline::Timeline& timeline, Rank origin, WaveDirection& direction) {
  direction.blur.reset();
  const auto& speed = direction.leading.ranks_per_s ? direction.leading.ranks_per_s : direction.trailing.ranks_per_s;
  if (!speed) return;
  const Nanoseconds per_rank(std::llround(std::min(1e9 / std::abs(speed->value), 1e18)));
  const auto error = clock_error(timeline, origin, direction.front);
  if (error && *error <= per_rank) return;
  direction.blur = {per_rank, error};
  direction.leading.ranks_per_s.reset();
  direction.trailing.ranks_per_s.reset();
}

std::optional<double> deviation(const std::optional<Estimate>& measured, const TheorySpeed& theory) {
  if (!measured || !measured->error || *measured->error <= kOfRounding * std::abs(measured->value)) return std::nullopt;
  return (measured->value - theory.ranks_per_s) / std::hypot(*measured->error, theory.error.value_or(0));
}

Places places_of(const Stretches& stretches, const WaveDirection& direction) {
  Places front;
  for (std::size_t i = 0; i < direction.front.size(); ++i)
    front.push_back({&direction.front[i], stretches.of_arrivals[i], stretches.of_departures[i]});
  return front;
}

void fit_decay(const Places& front, WaveDirection& direction) {
  direction.decay_s_per_rank =
      fit(front, &Place::of_departures, distances_of(front), seconds_of(front, &FrontPoint::idle));
  if (direction.decay_s_per_rank) direction.decay_s_per_rank->value *= -1;
}

/// Along a pipeline a front goes on as soon as a rank has done its work behind its wait: by the clock alone it has a speed.
void measure_within_a_step(const timeline::Timeline& timeline, Rank origin, const Stretches& stretches,
                           WaveDirection& direction) {
  if (direction.front.size() < 2) return;
  const Places front = places_of(stretches, direction);
  direction.leading.ranks_per_s = ranks_per_s(front, &Place::of_arrivals, &FrontPoint::arrival);
  direction.trailing.ranks_per_s = ranks_per_s(front, &Place::of_departures, &FrontPoint::departure);
  fit_decay(front, direction);
  withhold_blurred(timeline, origin, direction);
}

}  // namespace

void measure_speed(const timeline::Timeline& timeline, const partners::Partners& partners, Rank origin,
                   const Stretches& stretches, WaveDirection& direction) {
  direction.leading = direction.trailing = {};
  direction.decay_s_per_rank.reset();
  direction.stood_still = false;
  if (partners.wait_first) return measure_within_a_step(timeline, origin, stretches, direction);
  if (!direction.theory || direction.front.empty()) return;
  const Places front = places_of(stretches, direction);
  const int hop = int(direction.theory->ranks_per_step);
  const Places all = edge_of(front);
  if (all.size() > 1) {
    const std::vector<Headway> went = headway(timeline, partners, direction.sign, all, hop);
    Places edge = moving_part(all, went);
    // Where other waves were all along it nothing is known of that.
    direction.stood_still = edge.empty() && std::ranges::any_of(went, [](const Headway& of) { return of.stood > 0; });
    leave_out_short_leaps(edge, hop);
    direction.leading.ranks_per_s = ranks_per_s(edge, &Place::of_arrivals, &FrontPoint::arrival);
    direction.trailing.ranks_per_s = ranks_per_s(edge, &Place::of_departures, &FrontPoint::departure);
    direction.leading.ranks_per_step = direction.trailing.ranks_per_step = ranks_per_step(edge);
  }
  fit_decay(front, direction);
  withhold_blurred(timeline, origin, direction);
  direction.theory->deviation = deviation(direction.leading.ranks_per_s, *direction.theory);
}

void measure_speed(const timeline::Timeline& timeline, const partners::Partners& partners, Rank origin,
                   WaveDirection& direction) {
  const std::vector<unsigned> same(direction.front.size());
  measure_speed(timeline, partners, origin, {same, same}, direction);
}

}  // namespace idlewave::analysis::waves
