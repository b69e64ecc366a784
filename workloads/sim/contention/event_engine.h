#pragma once
// Bulk-synchronous ranks that share memory interfaces, from event to event.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/contention/min_tree.h"
#include "workloads/sim/contention/ordered_holds.h"
#include "workloads/sim/contention/post_times.h"
#include "workloads/sim/core/model.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"

namespace idlewave::sim::contention {

using core::Model;
using core::PhaseNoise;
using wire::Rank;
using wire::Step;

/// The active ranks of a domain share its bandwidth equally and have the same work to do, so one number per domain, the
/// service S (work that each active rank has been given, in units of one rank's work in one step), stands for all: S
/// grows at 1 / T_exec(n), T_exec = n V / b(n) (afzal-2020, eq. 1), a rank that begins at S ends at S + 1, and ranks
/// end in the order in which they began. Each domain has one pending moment: its next end of work or of a hold (delay,
/// noise, transfer). Time goes from one such moment to the next over all domains.
///
/// Times are seconds. One thread. Instantiated for Observer = Unobserved and Observed.
template <class Observer>
class EventEngine {
 public:
  EventEngine(Model model, Observer observer, std::shared_ptr<const PhaseNoise> noise, std::optional<Step> starts_of);

  /// Everything that happens until then. `stop`, if given, ends it early.
  void advance_until(double time, const std::atomic<bool>* stop = nullptr);

  bool finished() const { return running_ == 0; }
  double time() const { return now_; }  ///< Of the last thing that happened.
  double next() const { return begun_ ? pending_.smallest() : 0; }
  std::uint64_t events() const { return events_; }
  std::uint64_t rank_steps() const;  ///< Those that are over.
  std::span<const double> starts() const { return starts_; }

  Rank ranks() const { return model_.ranks; }
  Step steps() const { return model_.steps; }
  Step step_of(Rank rank) const { return at(rank).step; }  ///< -1 before its first; steps() when it has finished.
  /// Before a step that the rank has yet to begin, behind what else holds it there. Without a command it is the
  /// program's own. Of those with one a rank is held for no longer than wire::kLongestHold in all.
  void add_delay(Rank rank, Step step, double seconds, wire::CommandId command);
  /// Those of add_delay: what has not begun goes, and what holds the rank now ends at the moment up to which everything
  /// has happened. How many. Cost: a look at those of its domain that are held.
  std::size_t take_back_delays(Rank rank);
  OrderedHolds ordered_holds(Rank rank) const;
  void set_noise(std::shared_ptr<const PhaseNoise> noise);  ///< From the next step that begins on.

  /// What an engine for this model allocates; apart from senders that run far ahead of their receivers.
  static std::size_t bytes_for(const Model& model, bool noise, bool starts);

 private:
  struct RankState {
    std::int32_t posts = 0;  // index of the last post, counted over steps and stages from 1
    std::int32_t step = -1;
    Rank domain = 0;
    std::int16_t missing = 0;  // partners without whose post the wait can't end
    std::uint16_t stage : 14 = 0;
    std::uint16_t delayed : 1 = false;  // has an entry in the delays
    std::uint16_t held : 1 = false;     // by a delay of a command, which may be taken back
  };
  static_assert(sizeof(RankState) == 16);

  struct Domain {
    double service = 0;  // S at `time`
    double time = 0;
    double finish = MinTree::kNever;  // of the rank at the head of the queue
    Rank first = 0;                   // rank, and slot
    Rank size = 0;                    // ranks, and slots
    Rank head = 0;                    // slot of the one that works longest, counted from `first`
    Rank active = 0;
    Rank holds = 0;
    bool touched = false;
  };

  struct Working {
    double target;  // S at which the work is done
    Rank rank;
  };

  enum class Hold : std::uint8_t { kDelay, kNoise, kTransfer };
  struct Timer {
    double end;
    Rank rank;
    Hold hold;
    bool operator<(const Timer& other) const { return end > other.end; }  // for a heap with the earliest in front
  };

  struct Delay {
    double seconds;
    wire::CommandId command;
  };

  struct Begun {
    double time;
    std::size_t noise;  // which of noises_
  };

  RankState& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const RankState& at(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  Working& slot(const Domain& domain, Rank place);
  Timer* holds_of(const Domain& domain) { return holds_.data() + domain.first; }
  double seconds_of_work(const Domain& domain) const { return model_.seconds[static_cast<std::size_t>(domain.active)]; }

  void begin();
  void happen(std::size_t domain);
  void finish_work(Domain& domain);
  void end_holds(Domain& domain);
  Domain& touch(std::size_t domain);
  void refresh();
  void rebase(Domain& domain);
  void hold(Rank rank, double end, Hold what);
  void end_hold(const Timer& timer);

  void begin_step(Rank rank);
  void begin_delay_or_work(Rank rank);
  std::optional<Delay> take_delay(Rank rank);
  double charge(Rank rank, double seconds);
  bool let_go(Rank rank);
  void begin_work(Rank rank);
  void join_last(Domain& domain);
  void end_work(Rank rank);
  void begin_wait(Rank rank);
  void post(Rank rank);
  void remember_post(Rank rank);
  void look_for_partners(Rank rank);
  void tell_waiters(Rank rank);
  double end_of_wait(Rank rank) const;
  void end_wait(Rank rank, double end);
  void go_on();
  void finish(Rank rank);

  Model model_;
  Observer observer_;
  std::multimap<std::pair<Rank, Step>, Delay> ordered_;  // in the order in which they came
  std::unordered_map<Rank, double> held_;                // by commands: OrderedHolds::begun
  std::vector<RankState> ranks_;
  std::vector<Domain> domains_;
  std::vector<Working> queue_;  // a ring for each domain, at its ranks' places
  std::vector<Timer> holds_;    // a heap for each domain, at its ranks' places
  std::vector<Begun> begun_work_;
  std::optional<PostTimes> post_times_;
  MinTree pending_;
  std::vector<std::shared_ptr<const PhaseNoise>> noises_;
  std::vector<double> starts_;
  Step starts_of_;
  std::vector<Rank> ready_;  // their wait is over now
  std::vector<std::size_t> touched_;
  double now_ = 0;
  double until_ = 0;  // everything has happened
  Rank running_;
  std::uint64_t events_ = 0;
  bool begun_ = false;
};

}  // namespace idlewave::sim::contention
