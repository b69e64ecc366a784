#pragma once
// Idle waves: where one began and why, how its fronts run over the ranks, and how each ends (afzal-2020, section 3).

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/analysis/activity.h"
#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis {

enum class WaveEnd : std::uint8_t {
  kRunning,       ///< Its front was still moving when the data ended.
  kAnnihilated,   ///< Met the front of the other direction, or of another wave.
  kBoundary,      ///< Reached the end of an open chain.
  kDecayed,       ///< Its idle time fell from rank to rank until too little was left.
  kAbsorbed,      ///< The next rank would have waited as long for somebody else, or was as late itself.
  kProgramEnded,  ///< The next rank ended before the front could reach it.
  kNone,          ///< Nobody waits for anybody in this direction.
  kUnknown,       ///< The steps in which it would show are not kept any more.
};
/// As reports name it.
std::string to_words(WaveEnd end);

/// Why the origin was late.
enum class WaveCause : std::uint8_t {
  kCommand,   ///< An operator held it.
  kOwnDelay,  ///< The program held itself.
};
std::string to_words(WaveCause cause);

/// A front's arrival at one rank.
struct FrontPoint {
  Rank rank = 0;
  /// In which the rank waited for it.
  wire::Step step = wire::kNoStep;
  /// Signed distance from the origin along the way that the front took.
  int position = 0;
  /// The idle period's begin: leading edge.
  Nanoseconds arrival{};
  /// Its end: trailing edge. Of an idle period that goes on: how far it is known.
  Nanoseconds departure{};
  /// By how much later the rank ended this step than it would have without what held the origin.
  Nanoseconds idle{};
};

/// The leading or the trailing edge of a front: distance over time, distance over steps.
struct Edge {
  std::optional<Estimate> ranks_per_s;
  std::optional<Estimate> ranks_per_step;
};

struct WaveDirection {
  int sign = 1;                   ///< +1: towards higher ranks.
  std::vector<FrontPoint> front;  ///< In the order of their causes; the origin is not among them.
  Edge leading;
  Edge trailing;
  /// Idle time lost per rank, seconds.
  std::optional<Estimate> decay_s_per_rank;
  int reach_ranks = 0;
  WaveEnd end = WaveEnd::kRunning;
  /// Which stopped it: the one that another front had reached, that would have waited anyhow, or that had ended; else -1.
  Rank end_rank = -1;
};

/// How the front ended, as a sentence goes on: "met another front at rank 25".
std::string end_in_words(const WaveDirection& direction);

struct Wave {
  Rank origin_rank = 0;
  wire::Step origin_step = wire::kNoStep;
  WaveCause cause = WaveCause::kOwnDelay;
  wire::CommandId command = 0;  ///< 0: nobody's.
  Nanoseconds start{};          ///< When the delay began.
  Nanoseconds delay{};          ///< Its length.
  WaveDirection up;             ///< Towards higher ranks (round the ring if it is one).
  WaveDirection down;
};

/// Its two fronts met each other: on the far side of a ring.
bool met_itself(const Wave& wave);

/// One wave for each delay (phase kDelay; noise makes none) that began in the window and that others could notice: waits
/// are traced back to it through whoever was waited for, so that it does not matter how far apart partners are, how
/// ragged the steps are, or who else waits. Of very many the latest.
/// `known`: what was found before, when the timeline knew less; waves whose fronts had ended are taken from there.
std::vector<Wave> find_waves(const timeline::Timeline& timeline, Window window, std::span<const Wave> known = {});

}  // namespace idlewave::analysis
