#include "monitor/analysis/waves/wave_meetings.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "monitor/analysis/waves/front_speed.h"

namespace idlewave::analysis::waves {
namespace {

using timeline::Timeline;

wire::Step last_step(const Wave& wave, const WaveDirection& direction) {
  return direction.front.empty() ? wave.origin_step : direction.front.back().step;
}

bool reached_about(const Wave& wave, const WaveDirection& direction, Rank rank, wire::Step step) {
  constexpr wire::Step kAboutThen = 24;
  if (direction.end_rank == rank && std::abs(last_step(wave, direction) - step) <= kAboutThen) return true;
  return std::ranges::any_of(direction.front, [&](const FrontPoint& point) {
    return point.rank == rank && std::abs(point.step - step) <= kAboutThen;
  });
}

/// A front that ended before a rank which another wave had come to, or ended at, at about that time met that wave.
void settle_meeting(WaveDirection& direction, const Wave& mine, const Wave& other) {
  if (direction.end != WaveEnd::kDecayed && direction.end != WaveEnd::kAbsorbed) return;
  const wire::Step last = last_step(mine, direction);
  for (const WaveDirection* its : {&other.up, &other.down})
    if (reached_about(other, *its, direction.end_rank, last)) {
      direction.end = WaveEnd::kAnnihilated;
      direction.met = {other.origin_rank, other.origin_step};
    }
}

/// Of a wave at a rank.
struct Visit {
  Nanoseconds came = Nanoseconds::max();  ///< Never.
  Nanoseconds idle{};
};

/// When a wave came to each rank.
class Passage {
 public:
  Passage(const Wave& wave, Rank ranks) : visits_(std::size_t(ranks)), over_(wave.start + wave.delay) {
    constexpr Nanoseconds kBehind{1};  // Of the step that ended then, the origin's delay is none.
    visits_[std::size_t(wave.origin_rank)] = {wave.start + kBehind, wave.delay};
    for (const WaveDirection* direction : {&wave.up, &wave.down}) {
      if (direction->end == WaveEnd::kRunning) over_ = Nanoseconds::max();
      for (const FrontPoint& point : direction->front) {
        visits_[std::size_t(point.rank)] = {point.departure, point.idle};
        over_ = std::max(over_, point.departure);
      }
    }
  }
  const Visit& at(Rank rank) const { return visits_[std::size_t(rank)]; }
  bool was_over(Nanoseconds then) const { return over_ < then; }

 private:
  std::vector<Visit> visits_;
  Nanoseconds over_;
};

/// Between the begins of the latest steps that both have begun before a wave.
std::optional<Nanoseconds> apart(const Timeline& timeline, const Wave& wave, Rank a, Rank b) {
  const timeline::Lane *of_a = timeline.lane(a), *of_b = timeline.lane(b);
  if (!of_a || !of_b) return std::nullopt;
  const auto step_a = of_a->step(wave.origin_step - 1, wave.start),
             step_b = of_b->step(wave.origin_step - 1, wave.start);
  if (!step_a || !step_b) return std::nullopt;
  return std::chrono::abs(step_b->begin - step_a->begin);
}

/// Whether a wave that was over when `mine` began has left ranks of its front apart: one that it came to from one beside it that
/// it did not come to. Where they wait for each other both are as late soon. With less than a quarter of a step between them
/// the front runs on as good as straight.
bool has_left_apart(const Timeline& timeline, const Wave& mine, const WaveDirection& direction, const Passage& other) {
  if (!direction.theory || direction.theory->ranks_per_s <= 0) return true;
  const double step_s = direction.theory->ranks_per_step / direction.theory->ranks_per_s;
  const Nanoseconds least(std::llround(step_s * 1e9 / 4));
  for (std::size_t i = 1; i < direction.front.size(); ++i) {
    const Rank a = direction.front[i - 1].rank, b = direction.front[i].rank;
    const Visit &at_a = other.at(a), &at_b = other.at(b);
    if ((at_a.came < mine.start) == (at_b.came < mine.start)) continue;
    const auto distance = apart(timeline, mine, a, b);
    if (!distance || *distance >= std::max(least, std::max(at_a.idle, at_b.idle) / 2)) return true;
  }
  return false;
}

class Passages {
 public:
  Passages(const Timeline& timeline, const std::vector<Wave>& waves)
      : timeline_(timeline), waves_(waves), made_(waves.size()) {}

  /// Of a front of one of the waves: by which others it was held up, one bit each; of very many the latest.
  Stretches stretches(const WaveDirection& direction, std::size_t mine) {
    const std::vector<FrontPoint>& front = direction.front;
    Stretches stretches{std::vector<unsigned>(front.size()), std::vector<unsigned>(front.size())};
    Nanoseconds last{};
    for (const FrontPoint& point : front) last = std::max(last, point.departure);
    unsigned bit = 1;
    for (std::size_t other = waves_.size(); other-- > 0 && bit != 0;) {
      if (other == mine || waves_[other].start > last) continue;
      const Passage& passage = of(other);
      if (passage.was_over(waves_[mine].start) && !has_left_apart(timeline_, waves_[mine], direction, passage))
        continue;
      for (std::size_t i = 0; i < front.size(); ++i) {
        const Nanoseconds came = passage.at(front[i].rank).came;
        if (came <= front[i].arrival) stretches.of_arrivals[i] |= bit;
        if (came <= front[i].departure) stretches.of_departures[i] |= bit;
      }
      bit <<= 1;
    }
    return stretches;
  }

 private:
  const Passage& of(std::size_t wave) {
    if (!made_[wave]) made_[wave].emplace(waves_[wave], timeline_.ranks());
    return *made_[wave];
  }

  const Timeline& timeline_;
  const std::vector<Wave>& waves_;
  std::vector<std::optional<Passage>> made_;  ///< When they are asked for.
};

}  // namespace

void settle_meetings(const Timeline& timeline, const partners::Partners& partners, std::vector<Wave>& waves) {
  for (Wave& wave : waves)
    for (const Wave& other : waves) {
      if (&wave == &other) continue;
      settle_meeting(wave.up, wave, other);
      settle_meeting(wave.down, wave, other);
    }
  if (waves.size() < 2) return;
  Passages passages(timeline, waves);
  for (std::size_t i = 0; i < waves.size(); ++i)
    for (WaveDirection* direction : {&waves[i].up, &waves[i].down})
      measure_speed(timeline, partners, waves[i].origin_rank, passages.stretches(*direction, i), *direction);
}

}  // namespace idlewave::analysis::waves
