#include "monitor/analysis/waves/wave.h"

#include <fmt/format.h>

#include <algorithm>

namespace idlewave::analysis::waves {

std::string to_words(WaveEnd end) {
  switch (end) {
    case WaveEnd::kRunning: return "running";
    case WaveEnd::kAnnihilated: return "annihilated";
    case WaveEnd::kBoundary: return "boundary";
    case WaveEnd::kDecayed: return "decayed";
    case WaveEnd::kAbsorbed: return "absorbed";
    case WaveEnd::kFlattened: return "flattened";
    case WaveEnd::kProgramEnded: return "program_ended";
    case WaveEnd::kNone: return "none";
    case WaveEnd::kUnknown: return "unknown";
  }
  return {};
}

std::string end_in_words(const WaveDirection& direction, Rank origin) {
  switch (direction.end) {
    case WaveEnd::kRunning: return "runs on";
    case WaveEnd::kAnnihilated:
      if (!direction.met && direction.end_rank == origin) return "came round the ring to its origin";
      if (!direction.met) return fmt::format("met another front at rank {}", direction.end_rank);
      return fmt::format("met the wave from rank {}, step {}, at rank {}", direction.met->rank, direction.met->step,
                         direction.end_rank);
    case WaveEnd::kBoundary:
      return runs_along_no_line(direction) ? "came to all who wait this way" : "left at the end of the chain";
    case WaveEnd::kDecayed: return "decayed";
    case WaveEnd::kAbsorbed: return fmt::format("was absorbed in the waiting of rank {}", direction.end_rank);
    case WaveEnd::kFlattened: return "was flattened: all waited at once, as in a collective";
    case WaveEnd::kProgramEnded: return "ran until the program ended";
    case WaveEnd::kNone: return "has nobody who waits this way";
    case WaveEnd::kUnknown: return "is not known: the steps that would tell are not kept";
  }
  return {};
}

bool came_in_one_step(const WaveDirection& direction) {
  const auto of_first = [&](const FrontPoint& point) { return point.step == direction.front.front().step; };
  return direction.front.size() > 1 && std::ranges::all_of(direction.front, of_first);
}

bool runs_along_no_line(const WaveDirection& direction) {
  const bool has_none = !direction.theory || direction.stood_still;
  return direction.front.size() > 1 && has_none && !came_in_one_step(direction);
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
    case WaveCause::kLateCompute: return "late_compute";
    case WaveCause::kStopped: return "stopped";
  }
  return {};
}

std::string cause_in_words(const Wave& wave, const std::string& length) {
  switch (wave.cause) {
    case WaveCause::kCommand:
    case WaveCause::kOwnDelay: return fmt::format("delay {}", length);
    case WaveCause::kLateCompute: return fmt::format("computed {} longer", length);
    case WaveCause::kStopped: return fmt::format("stopped for {} after its waiting", length);
  }
  return {};
}

}  // namespace idlewave::analysis::waves
