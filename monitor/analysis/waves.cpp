#include "monitor/analysis/waves.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "monitor/analysis/front.h"
#include "monitor/analysis/step_history.h"
#include "monitor/theory/contention.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;

/// A delay shorter than this share of a typical step drowns in what is ordinary.
constexpr double kShortestDelay = 0.5;

/// The latest waves are followed, and no more than so many ranks for all of them: a program may delay itself in every
/// step.
constexpr std::size_t kMostWaves = 512;
constexpr std::size_t kMostPoints = 1 << 22;

/// Both fronts of one wave, advanced in turns so that each sees where the other has been.
Wave follow(const Timeline& timeline, const timeline::Delay& delay, Nanoseconds typical_step) {
  Wave wave;
  wave.origin_rank = delay.rank;
  wave.origin_step = delay.step;
  wave.command = delay.command;
  wave.start = delay.begin;
  wave.delay = (delay.ended ? delay.end : timeline.now()) - delay.begin;

  std::map<Rank, wire::Step> reached{{delay.rank, delay.step}};
  Front up(timeline, delay, +1, typical_step);
  Front down(timeline, delay, -1, typical_step);
  while (up.moving() || down.moving()) {
    Front& earlier = !down.moving() || (up.moving() && up.latest_step() <= down.latest_step()) ? up : down;
    earlier.advance(reached);
  }
  wave.up = up.take();
  wave.down = down.take();
  return wave;
}

bool makes_a_wave(const Timeline& timeline, const timeline::Delay& delay, Window window, Nanoseconds typical_step) {
  if (delay.phase != wire::Phase::kDelay || delay.begin < window.from || delay.begin >= window.to) return false;
  const Nanoseconds length = (delay.ended ? delay.end : timeline.now()) - delay.begin;
  return double(length.count()) >= kShortestDelay * double(typical_step.count());
}

bool close_in_time(const FrontPoint& a, const FrontPoint& b, Nanoseconds typical_step) {
  return std::chrono::abs(a.arrival - b.arrival) <= std::max({a.idle, b.idle, 4 * typical_step});
}

/// A front that died beside the place where another wave's opposite front died, at about the same time, met it.
void settle_meeting(WaveDirection& a, WaveDirection& b, Rank ranks, Nanoseconds typical_step) {
  if (a.sign == b.sign || a.front.empty() || b.front.empty()) return;
  if (a.end != WaveEnd::kDecayed || b.end != WaveEnd::kDecayed) return;
  constexpr Rank kNextDoor = 3;
  const FrontPoint &last_a = a.front.back(), &last_b = b.front.back();
  const Rank apart = std::min(theory::ring_distance(last_a.rank, last_b.rank, +1, ranks),
                              theory::ring_distance(last_a.rank, last_b.rank, -1, ranks));
  if (apart > kNextDoor || !close_in_time(last_a, last_b, typical_step)) return;
  a.end = b.end = WaveEnd::kAnnihilated;
}

void settle_meetings(std::vector<Wave>& waves, Rank ranks, Nanoseconds typical_step) {
  for (std::size_t i = 0; i < waves.size(); ++i) {
    for (std::size_t j = i + 1; j < waves.size(); ++j) {
      settle_meeting(waves[i].up, waves[j].down, ranks, typical_step);
      settle_meeting(waves[i].down, waves[j].up, ranks, typical_step);
    }
  }
}

}  // namespace

std::string to_words(WaveEnd end) {
  switch (end) {
    case WaveEnd::kRunning: return "running";
    case WaveEnd::kAnnihilated: return "annihilated";
    case WaveEnd::kBoundary: return "boundary";
    case WaveEnd::kDecayed: return "decayed";
  }
  return {};
}

std::vector<Wave> find_waves(const Timeline& timeline, Window window) {
  const Nanoseconds step = typical_step_length(timeline);
  std::vector<Wave> waves;
  std::size_t points = 0;
  const auto& delays = timeline.delays();
  for (auto delay = delays.rbegin(); delay != delays.rend() && waves.size() < kMostWaves && points < kMostPoints;
       ++delay) {
    if (!makes_a_wave(timeline, *delay, window, step)) continue;
    waves.push_back(follow(timeline, *delay, step));
    points += waves.back().up.front.size() + waves.back().down.front.size();
  }
  std::reverse(waves.begin(), waves.end());
  settle_meetings(waves, timeline.ranks(), step);
  return waves;
}

}  // namespace idlewave::analysis
