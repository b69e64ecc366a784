#include "monitor/analysis/waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "monitor/analysis/step_history.h"
#include "monitor/analysis/wave_trace.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;

/// A delay shorter than this share of a typical step drowns in what is ordinary.
constexpr double kShortestDelay = 0.1;

/// The latest waves are followed: a program may delay itself in every step.
constexpr std::size_t kMostWaves = 512;

Nanoseconds length_of(const Timeline& timeline, const timeline::Delay& delay) {
  return (delay.ended ? delay.end.session_time() : timeline.now()) - delay.begin;
}

bool makes_a_wave(const Timeline& timeline, const timeline::Delay& delay, Window window, Nanoseconds typical_step) {
  if (delay.phase != wire::Phase::kDelay || delay.begin < window.from || delay.begin >= window.to) return false;
  return double(length_of(timeline, delay).count()) >= kShortestDelay * double(typical_step.count());
}

Wave wave_of(const Timeline& timeline, const timeline::Delay& delay, const WaveTrace& trace) {
  return {.origin_rank = delay.rank,
          .origin_step = delay.step,
          .cause = delay.command != 0 ? WaveCause::kCommand : WaveCause::kOwnDelay,
          .command = delay.command,
          .start = delay.begin,
          .delay = length_of(timeline, delay),
          .up = trace.up(),
          .down = trace.down()};
}

/// The latest delays that make waves, oldest first.
std::vector<const timeline::Delay*> causes(const Timeline& timeline, Window window, Nanoseconds typical_step) {
  std::vector<const timeline::Delay*> found;
  const auto& delays = timeline.delays();
  for (auto delay = delays.rbegin(); delay != delays.rend() && found.size() < kMostWaves; ++delay)
    if (makes_a_wave(timeline, *delay, window, typical_step)) found.push_back(&*delay);
  std::ranges::reverse(found);
  return found;
}

bool is_over(const Wave& wave) { return wave.up.end != WaveEnd::kRunning && wave.down.end != WaveEnd::kRunning; }

/// The wave of this delay, if nothing more will be learnt of it.
const Wave* known_wave(std::span<const Wave> known, const timeline::Delay& delay) {
  const auto found = std::ranges::find_if(known, [&](const Wave& wave) {
    return wave.start == delay.begin && wave.origin_rank == delay.rank && wave.origin_step == delay.step;
  });
  return found != known.end() && delay.ended && is_over(*found) ? &*found : nullptr;
}

/// Those delays whose waves have yet to be traced.
std::vector<LateMoment> moments_of(const std::vector<const timeline::Delay*>& delays, std::span<const Wave> known) {
  std::vector<LateMoment> moments;
  for (const timeline::Delay* delay : delays)
    if (!known_wave(known, *delay)) moments.push_back({delay->rank, delay->step, delay->begin});
  return moments;
}

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
    if (reached_about(other, *its, direction.end_rank, last)) direction.end = WaveEnd::kAnnihilated;
}

}  // namespace

std::string to_words(WaveEnd end) {
  switch (end) {
    case WaveEnd::kRunning: return "running";
    case WaveEnd::kAnnihilated: return "annihilated";
    case WaveEnd::kBoundary: return "boundary";
    case WaveEnd::kDecayed: return "decayed";
    case WaveEnd::kAbsorbed: return "absorbed";
    case WaveEnd::kProgramEnded: return "program_ended";
    case WaveEnd::kNone: return "none";
    case WaveEnd::kUnknown: return "unknown";
  }
  return {};
}

std::string end_in_words(const WaveDirection& direction) {
  switch (direction.end) {
    case WaveEnd::kRunning: return "runs on";
    case WaveEnd::kAnnihilated: return fmt::format("met another front at rank {}", direction.end_rank);
    case WaveEnd::kBoundary: return "left at the end of the chain";
    case WaveEnd::kDecayed: return "decayed";
    case WaveEnd::kAbsorbed: return fmt::format("was absorbed in the waiting of rank {}", direction.end_rank);
    case WaveEnd::kProgramEnded: return "ran until the program ended";
    case WaveEnd::kNone: return "has nobody who waits this way";
    case WaveEnd::kUnknown: return "is not known: the steps that would tell are not kept";
  }
  return {};
}

bool met_itself(const Wave& wave) {
  const auto reached = [](const WaveDirection& direction, Rank rank) {
    return std::ranges::any_of(direction.front, [&](const FrontPoint& point) { return point.rank == rank; });
  };
  return wave.up.end == WaveEnd::kAnnihilated && wave.down.end == WaveEnd::kAnnihilated &&
         reached(wave.down, wave.up.end_rank) && reached(wave.up, wave.down.end_rank);
}

std::string to_words(WaveCause cause) {
  switch (cause) {
    case WaveCause::kCommand: return "command";
    case WaveCause::kOwnDelay: return "own_delay";
  }
  return {};
}

std::vector<Wave> find_waves(const Timeline& timeline, Window window, std::span<const Wave> known) {
  const Nanoseconds step = typical_step_length(timeline);
  const auto delays = causes(timeline, window, step);
  if (delays.empty() || step <= Nanoseconds{0}) return {};
  const auto moments = moments_of(delays, known);
  const Partners partners = infer_partners(timeline, moments, step);
  std::optional<Contention> contention;
  if (!moments.empty()) contention.emplace(timeline);
  std::vector<Wave> waves;
  for (const timeline::Delay* delay : delays) {
    if (const Wave* same = known_wave(known, *delay)) {
      waves.push_back(*same);
      continue;
    }
    const Origin origin{delay->rank, delay->step, delay->begin, length_of(timeline, *delay)};
    waves.push_back(wave_of(timeline, *delay, WaveTrace(timeline, partners, *contention, origin, step)));
  }
  for (Wave& wave : waves) {
    for (const Wave& other : waves) {
      if (&wave == &other) continue;
      settle_meeting(wave.up, wave, other);
      settle_meeting(wave.down, wave, other);
    }
  }
  return waves;
}

}  // namespace idlewave::analysis
