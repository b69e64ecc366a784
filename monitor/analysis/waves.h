#pragma once
// Idle waves: where a delay began, how its front runs over the ranks, and how it ends (afzal-2020, section 3).

#include <optional>
#include <string>
#include <vector>

#include "monitor/analysis/activity.h"

namespace idlewave::analysis {

enum class WaveEnd : std::uint8_t {
  kRunning,      ///< Its front was still moving when the data ended.
  kAnnihilated,  ///< Met the front of the other direction (or of another wave).
  kBoundary,     ///< Reached the end of an open chain.
  kDecayed,      ///< Its idle period sank into the ordinary waiting.
};
std::string to_words(WaveEnd end);

/// A front's arrival at one rank.
struct FrontPoint {
  Rank rank = 0;
  wire::Step step = wire::kNoStep;  ///< In which the rank waited for it.
  Nanoseconds arrival{};            ///< The idle period's begin: leading edge.
  Nanoseconds departure{};          ///< Its end: trailing edge.
  Nanoseconds idle{};               ///< Waiting beyond what is ordinary for this rank.
};

struct WaveDirection {
  int sign = 1;                   ///< +1: towards higher ranks.
  std::vector<FrontPoint> front;  ///< In the order in which ranks were reached; the origin is not among them.
  double speed_ranks_per_s = 0;   ///< Of the leading edge, least squares; 0 with fewer than two points.
  double ranks_per_step = 0;
  double decay_s_per_rank = 0;  ///< Idle time lost per rank; at least 0 within noise.
  int reach_ranks = 0;
  WaveEnd end = WaveEnd::kRunning;
};

struct Wave {
  Rank origin_rank = 0;
  wire::Step origin_step = wire::kNoStep;
  wire::CommandId command = 0;  ///< 0: the program's own delay.
  Nanoseconds start{};          ///< When the delay began.
  Nanoseconds delay{};          ///< Its length.
  WaveDirection up;             ///< Towards higher ranks (round the ring if it is one).
  WaveDirection down;
};

/// One wave for each delay (phase kDelay; noise makes none) that began in the window and was longer than half a step.
/// Neighbouring delays of one command on several ranks are one wave each. Of very many the latest.
std::vector<Wave> find_waves(const timeline::Timeline& timeline, Window window);

/// The stable wavefront of the steady state at the window's end: the spread of step begins over the ranks, and for each
/// domain the slope with which it runs through (ranks per second; positive: higher ranks later). Sec. 4 of afzal-2020.
struct Wavefront {
  wire::Step step = wire::kNoStep;
  Nanoseconds amplitude{};                 ///< Latest begin minus earliest.
  std::vector<double> slopes_ranks_per_s;  ///< By domain; 0 where the ranks begin together.
};
std::optional<Wavefront> find_wavefront(const timeline::Timeline& timeline, Window window);

}  // namespace idlewave::analysis
