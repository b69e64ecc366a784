#pragma once
// Idle waves: where one began and why, how its fronts run over the ranks, and how each ends (afzal-2020, section 3).

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "monitor/analysis/activity.h"
#include "monitor/analysis/late_steps.h"
#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/partners.h"

namespace idlewave::analysis {

enum class WaveEnd : std::uint8_t {
  kRunning,       ///< Its front was still moving when the data ended.
  kAnnihilated,   ///< Met the front of the other direction, or of another wave.
  kBoundary,      ///< Reached the end of an open chain.
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
  /// By the median of the origin's part of a step before the wave, and what messages take; no step is shorter than it was.
  double ranks_per_s = 0;
  /// Of the leading edge from that, in standard errors; nothing where it has none.
  std::optional<double> deviation;
};

/// A front that takes less time from rank to rank than the clocks of its nodes may be off from each other: its speed by
/// the clock is not known.
struct Blur {
  Nanoseconds per_rank{};
  std::optional<Nanoseconds> clock_error;  ///< Nothing: not known.
};

struct WaveDirection {
  int sign = 1;                   ///< +1: towards higher ranks.
  std::vector<FrontPoint> front;  ///< In the order of their causes; neither the origin nor who was reached by a
                                  ///< collective is among them.
  Edge leading;
  Edge trailing;
  /// Why neither edge has a speed in ranks per second; nothing where that is known, or could not be fitted.
  std::optional<Blur> blur;
  /// Idle time lost per rank, seconds.
  std::optional<Estimate> decay_s_per_rank;
  /// Nothing where nobody waits this way, and where collectives make all wait.
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

/// How the front ended, as a sentence goes on: "met another front at rank 25".
std::string end_in_words(const WaveDirection& direction);

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

class PartnerSearch;
struct Late;

/// Finds waves again and again while a session goes on; each look costs what is new. Owned by whoever looks, always at
/// the same session, which must outlive it; one thread.
class WaveWatch {
 public:
  /// Whom ranks wait for is learnt, where they don't say it, by so many looks at posts a call. No wave is begun to be
  /// traced any more after `most_work` (rerun.h) in all.
  explicit WaveWatch(std::uint64_t looks_at_once = LookBudget::kAtOnce,
                     std::uint64_t most_work = LookBudget::kUnlimited);
  WaveWatch(const WaveWatch&) = delete;
  WaveWatch& operator=(const WaveWatch&) = delete;
  ~WaveWatch();

  /// One wave for each delay (phase kDelay; noise makes none) that others could notice, and for each step that a rank
  /// was late in without one (late_steps.h) if others waited for that: waits are traced back to it through whoever was
  /// waited for, so that it does not matter how far apart partners are, how ragged the steps are, or who else waits. Of
  /// very many the latest; oldest first. Waves whose fronts have ended stay as they were found, and one that is much work to
  /// trace stays for an eighth of the steps that it has run for. While it is being learnt
  /// whom ranks wait for, others are told by what was known of it before, and as running; where nothing was known delays
  /// alone make waves, which have reached nobody yet.
  std::vector<Wave> look(const timeline::Timeline& timeline);
  /// Learns a little more, between two looks. True while there is more to learn of what was begun.
  bool learn();
  /// The next look takes over what has been learnt until then.
  bool is_learning() const { return search_ != nullptr; }
  /// At the latest look: delays and late steps whose waves were too much work, the shortest ones.
  int not_traced() const { return not_traced_; }
  std::uint64_t work() const { return work_; }

 private:
  std::vector<Wave> traced(const timeline::Timeline& timeline, const std::vector<Late>& all, Nanoseconds typical_step);
  Wave trace(const timeline::Timeline& timeline, const Contention& contention, const Late& late,
             Nanoseconds typical_step);
  const Wave* hardly_older(const timeline::Timeline& timeline, const Late& late) const;
  void learn_partners(const timeline::Timeline& timeline, const std::vector<LateMoment>& moments,
                      Nanoseconds typical_step);
  void forget_partners_if_ranks_joined(const timeline::Timeline& timeline);
  bool has_more_to_learn_from(const timeline::Timeline& timeline, const std::vector<LateMoment>& moments) const;

  std::uint64_t looks_at_once_, most_work_;
  std::uint64_t work_ = 0;
  int not_traced_ = 0;
  LateSteps late_;
  std::vector<Wave>
      known_;  ///< As found at the latest look at which nothing was being learnt; also those that nobody waited for.
  /// Of each wave that runs, by its origin, as it was traced last.
  struct Trace {
    wire::Step latest = wire::kNoStep;  ///< Step that there was.
    std::uint64_t work = 0;
  };
  std::map<std::pair<Rank, wire::Step>, Trace> traces_;
  Partners partners_;
  std::unique_ptr<PartnerSearch> search_;
  std::vector<LateMoment> learnt_from_;
  wire::Step learnt_at_ = wire::kNoStep;  ///< Latest step that there was.
  Rank learnt_ranks_ = 0;
};

/// Those that began in the window, of a session that is looked at once.
std::vector<Wave> find_waves(const timeline::Timeline& timeline, Window window);

struct FoundWaves {
  std::vector<Wave> waves;
  int not_traced = 0;
};
/// All, for a report: for some seconds of work the longest delays are traced, and others counted.
FoundWaves find_longest_waves(const timeline::Timeline& timeline);

}  // namespace idlewave::analysis
