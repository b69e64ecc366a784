#include "monitor/analysis/waves/wave_meetings.h"

#include <algorithm>
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

/// When a wave came to each rank.
class Passage {
 public:
  Passage(const Wave& wave, Rank ranks) : came_(std::size_t(ranks), Nanoseconds::max()) {
    constexpr Nanoseconds kBehind{1};  // Of the step that ended then, the origin's delay is none.
    came_[std::size_t(wave.origin_rank)] = wave.start + kBehind;
    for (const WaveDirection* direction : {&wave.up, &wave.down})
      for (const FrontPoint& point : direction->front) came_[std::size_t(point.rank)] = point.departure;
  }
  Nanoseconds at(Rank rank) const { return came_[std::size_t(rank)]; }

 private:
  std::vector<Nanoseconds> came_;
};

class Passages {
 public:
  Passages(const std::vector<Wave>& waves, Rank ranks) : waves_(waves), ranks_(ranks), made_(waves.size()) {}

  /// Of a front of one of the waves: by which others it was held up, one bit each; of very many the latest.
  Stretches stretches(const std::vector<FrontPoint>& front, std::size_t mine) {
    Stretches stretches{std::vector<unsigned>(front.size()), std::vector<unsigned>(front.size())};
    Nanoseconds last{};
    for (const FrontPoint& point : front) last = std::max(last, point.departure);
    unsigned bit = 1;
    for (std::size_t other = waves_.size(); other-- > 0 && bit != 0;) {
      if (other == mine || waves_[other].start > last) continue;
      for (std::size_t i = 0; i < front.size(); ++i) {
        const Nanoseconds came = of(other).at(front[i].rank);
        if (came <= front[i].arrival) stretches.of_arrivals[i] |= bit;
        if (came <= front[i].departure) stretches.of_departures[i] |= bit;
      }
      bit <<= 1;
    }
    return stretches;
  }

 private:
  const Passage& of(std::size_t wave) {
    if (!made_[wave]) made_[wave].emplace(waves_[wave], ranks_);
    return *made_[wave];
  }

  const std::vector<Wave>& waves_;
  Rank ranks_;
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
  Passages passages(waves, timeline.ranks());
  for (std::size_t i = 0; i < waves.size(); ++i)
    for (WaveDirection* direction : {&waves[i].up, &waves[i].down})
      measure_speed(timeline, partners, waves[i].origin_rank, passages.stretches(direction->front, i), *direction);
}

}  // namespace idlewave::analysis::waves
