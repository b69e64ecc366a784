#pragma once
// An idle wave: where it began and why, how its fronts run over the ranks, and how each ends (afzal-2020, section 3).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/window.h"

namespace idlewave::analysis::waves {

enum class WaveEnd : std::uint8_t {
  kRunning,       ///< Its front was still moving when the data ended.
  kAnnihilated,   ///< Met the front of the other direction, or of another wave.
  kBoundary,      ///< Reached the end of an open chain, or all who wait this way.
  kDecayed,       ///< Its idle time fell from rank to rank until too little was left.
  kAbsorbed,      ///< The next rank would have waited as long for somebody else, or was as late itself.
  kFlattened,     ///< All ranks waited for it in one step, as a collective makes them.
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
  // Nobody said why:
  kLateCompute,  ///< Its own part of the step lasted longer than is ordinary.
  kStopped,      ///< It went on later than it could: all whom it might have waited for had done their part.
};
std::string to_words(WaveCause cause);
/// Nobody announced it: who looks for it on a map finds no delay there.
inline bool is_unannounced(WaveCause cause) { return cause == WaveCause::kLateCompute || cause == WaveCause::kStopped; }

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

/// What afzal-2020, eq. 2, says of a front: sigma d / (T_exec + T_comm).
struct TheorySpeed {
  /// sigma d: how far a wait reaches within a step, by the partners.
  double ranks_per_step = 0;
  /// d: the farthest partner; 0 where each rank has partners of its own that nobody declared. sigma is the rest.
  double distance = 0;
  /// By the median of the origin's steps before the wave, each at least as long as its own part and what messages take.
  double ranks_per_s = 0;
  /// Standard error of that, by how unlike those steps were; nothing where fewer than two of them are kept.
  std::optional<double> error;
  /// Of the leading edge from that, in standard errors of their difference; nothing where its speed has none.
  std::optional<double> deviation;
};

/// A front that takes less time from rank to rank than the clocks of its nodes may be off from each other: its speed by
/// the clock is not known.
struct Blur {
  Nanoseconds per_rank{};
  std::optional<Nanoseconds> clock_error;  ///< Nothing: not known.
};

struct WaveDirection {
  int sign = 1;  ///< +1: towards higher ranks.
  /// In the order of their causes; neither the origin nor who was reached by a collective is among them.
  std::vector<FrontPoint> front;
  Edge leading;
  Edge trailing;
  /// It stood still in most of the steps in which it could have gone on, as a front does that noise hides again and again:
  /// the ranks that it came to lie on no line, and neither edge has a speed.
  bool stood_still = false;
  /// Why neither edge has a speed in ranks per second; nothing where that is known, or could not be fitted.
  std::optional<Blur> blur;
  /// Idle time lost per rank, seconds.
  std::optional<Estimate> decay_s_per_rank;
  /// Nothing where nobody waits this way, where collectives make all wait, and where partners lie at distances that make no
  /// line, as in a tree: then there is no speed either.
  std::optional<TheorySpeed> theory;
  int reach_ranks = 0;
  WaveEnd end = WaveEnd::kRunning;
  /// Which stopped it: the one that another front had reached, that would have waited anyhow, or that had ended; else -1.
  Rank end_rank = -1;
  /// Where it met the front of another wave: that one's origin.
  struct Met {
    Rank rank = -1;
    wire::Step step = wire::kNoStep;
  };
  std::optional<Met> met{};
};

/// All whom it has come to, more than one, waited for it in the same step: in steps it has no speed, and by the clock that
/// of messages.
bool came_in_one_step(const WaveDirection& direction);

/// It has come to ranks in several steps, and has no speed, since their partners lie at distances that make no line, or since
/// it stood still for so long.
bool runs_along_no_line(const WaveDirection& direction);

/// How the front of a wave from `origin` ended, as a sentence goes on: "met another front at rank 25".
std::string end_in_words(const WaveDirection& direction, Rank origin);

struct Wave {
  Rank origin_rank = 0;
  wire::Step origin_step = wire::kNoStep;
  WaveCause cause = WaveCause::kOwnDelay;
  wire::CommandId command = 0;  ///< 0: nobody's.
  Nanoseconds start{};          ///< When the delay began, or when the origin would have done its part.
  Nanoseconds delay{};          ///< Its length; what its part lasted longer.
  WaveDirection up;             ///< Towards higher ranks (round the ring if it is one).
  WaveDirection down;
};

/// Its two fronts met each other: on the far side of a ring.
bool met_itself(const Wave& wave);

/// "delay 1.2 s", "computed 1.2 s longer" or "stopped for 1.2 s after its waiting", told by `length`.
std::string cause_in_words(const Wave& wave, const std::string& length);

}  // namespace idlewave::analysis::waves
