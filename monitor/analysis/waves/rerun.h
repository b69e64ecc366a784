#pragma once
// The recorded program, run once more without what held one rank.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "monitor/analysis/domains/contention.h"
#include "monitor/analysis/domains/served_work.h"
#include "monitor/analysis/partners/partners.h"
#include "monitor/analysis/per_rank.h"
#include "monitor/analysis/waves/message_time.h"

namespace idlewave::analysis::waves {

/// Who was late by its own doing, and by how much.
struct Origin {
  Rank rank = 0;
  wire::Step step = wire::kNoStep;
  Nanoseconds begin{};
  Nanoseconds excess{};
  /// It was at work for so much longer; else it was held beside its work.
  bool in_work = false;
};

/// A rank goes on when it and all whom it waits for have done their own part, and their messages have come
/// (message_time.h); what everybody did by itself stays as it was, and work that shares a memory interface is served by
/// how many are at work then. Only ranks that are not where the recording has them are run, with those who share an
/// interface with them: all others do what was recorded. Everything that it is given must outlive it.
class Rerun {
 public:
  using Step = wire::Step;

  Rerun(const timeline::Timeline& timeline, const partners::Partners& partners, const domains::Contention& contention,
        const Origin& origin, Nanoseconds typical_step);

  /// Until every rank that is run has ended that step, or can't be followed so far. Costs in proportion to the
  /// rank-steps that are run, times their partners.
  void run_through(Step step);
  /// Follows the rank no longer, nor those that share an interface with it: they stay as much earlier as they are.
  void let_go(Rank rank);
  /// So far: moments at which a rank did something, and partners that were asked for then.
  std::uint64_t work() const { return work_; }

  /// Those that are run, or were, in the order in which they came to that.
  const std::vector<Rank>& touched() const { return touched_; }
  bool is_run(Rank rank) const { return runners_[std::size_t(rank)].doing != Doing::kRecorded; }
  /// Those that are run together with the rank, which was touched: who shares an interface with it, and itself.
  const std::vector<Rank>& group_of(Rank rank) const { return groups_[group_of_[std::size_t(rank)]].ranks; }

  /// By how much later than in this run the recording has the rank's post in that step, and its end; less than 0 where
  /// it has it earlier.
  Nanoseconds late_post(Rank rank, Step step) const;
  Nanoseconds late_end(Rank rank, Step step) const;
  /// Of messages to a rank that was late; else 0.
  MessageTime message_time_of(Rank rank) const { return runners_[std::size_t(rank)].message.value_or(MessageTime{}); }

 private:
  static constexpr std::uint32_t kNoGroup = ~0u;
  static constexpr Rank kNobody = -1;
  enum class Doing : std::uint8_t { kRecorded, kHeld, kAtWork, kIdle, kWaits, kGone };
  /// What the run has made of one step; nanoseconds by which the recording is later.
  struct Moment {
    Step step = wire::kNoStep;
    double late_post = 0, late_end = 0;
    double late_sent = 0;  ///< What others wait for.
    bool sent = false;
  };
  struct Runner {
    Doing doing = Doing::kRecorded;
    bool let_go = false;
    std::size_t index = 0;  ///< Of its lane's record.
    Step step = wire::kNoStep;
    steps::StepCourse course;
    domains::OwnPart part;
    std::optional<MessageTime> message;  ///< Once somebody was late.
    double late = 0;                     ///< At the end of its latest step.
    Rank missing = kNobody;              ///< One that it waits for, as it was last found.
    std::uint32_t version = 0;
    std::vector<Moment> moments;  ///< By step.
  };
  /// Ranks that are run together.
  struct Group {
    std::vector<Rank> ranks;
    std::optional<domains::Service> service;
    std::unique_ptr<domains::ServedWork> served;
    std::uint32_t version = 0;
  };
  enum class Kind : std::uint8_t { kWorkEnds, kGoesOn, kWasPosted };
  struct Event {
    double at = 0;
    Kind kind = Kind::kGoesOn;
    Rank rank = 0;  ///< Of kWorkEnds any of the group.
    std::uint32_t version = 0;
    bool operator>(const Event& other) const { return at > other.at; }
  };
  /// When the last message came that a rank waits for in a step, in the recording and in this run.
  struct Last {
    double recorded = 0, now = 0;
  };

  Runner& at(Rank rank) { return runners_.of(std::size_t(rank)); }
  const Runner& at(Rank rank) const { return runners_[std::size_t(rank)]; }
  Group& group(Rank rank) { return groups_[group_of_[std::size_t(rank)]]; }
  bool has_group(Rank rank) const { return group_of_[std::size_t(rank)] != kNoGroup; }
  Group& found_group(Rank rank);
  double volume_of(Rank rank, const domains::Bandwidth& bandwidth);
  /// Nanoseconds from the origin's step, so that rounding does not depend on when in the session that was.
  double since_origin(Nanoseconds time) const { return double((time - origin_.begin).count()); }
  void begin();
  void touch(Rank rank);
  std::size_t steps_begun(const timeline::Lane& lane) const;
  void join(Rank rank, Group& group, std::size_t place, double done);
  void begin_step(Rank rank, std::size_t index);
  void leave_out_excess(domains::OwnPart& part);
  void begin_work(Rank rank);
  void end_work(Rank rank);
  void post(Rank rank);
  void send(Rank rank, double late);
  void end_wait(Rank rank);
  void touch_waiters(Rank rank);
  void take(const Event& event);
  void serve(Group& group);
  void expect_work_end(Group& group);
  void expect(double at, Kind kind, Rank rank);
  void become(Rank rank, Doing doing);
  bool has_yet_to_send(Rank rank, Step step) const;
  bool is_missing_someone(Rank rank);
  double late_sent_of(Rank rank, Step step) const;
  bool is_anybody_late(Rank rank) const;
  Last last_of(Rank rank);
  const Moment* moment(Rank rank, Step step) const;
  Moment& add_moment(Rank rank);

  const timeline::Timeline& timeline_;
  const partners::Partners& partners_;
  const domains::Contention& contention_;
  Origin origin_;
  Nanoseconds typical_step_;
  double noticed_;
  double volume_ = 0;
  PerRank<Runner> runners_;
  std::vector<Rank> touched_;
  std::deque<Group> groups_;
  std::vector<std::uint32_t> group_of_;  ///< By rank: index into groups_.
  std::vector<std::size_t> places_;      ///< Of a rank in its group.
  std::map<Step, int> in_step_;          ///< How many of those that are run.
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t work_ = 0;
  double now_ = 0;  ///< Since the origin's step.
};

}  // namespace idlewave::analysis::waves
