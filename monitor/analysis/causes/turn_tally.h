#pragma once
// Says who caused each wait in programs whose steps begin with waiting: by the times of waits, not step by step.

#include <deque>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "monitor/analysis/causes/cause_ground.h"
#include "monitor/analysis/causes/cause_sums.h"
#include "monitor/analysis/causes/turns.h"

namespace idlewave::analysis::causes {

/// In a pipeline a rank waits first and then works. So how long it waited in a step does not tell when it had done its part
/// of that step, and what ends its wait may belong to an earlier or a later step of another rank. Therefore the turns
/// (turns.h) of all ranks are gone through in the order in which they end. What ended a wait is the latest post, made while
/// it lasted, of those for whom the rank is said to wait. Where calls say with whom they were it is the message that the wait
/// was for, and of one for all the latest who came. Everything that it is given must outlive it.
class TurnTally : public Tally {
 public:
  TurnTally(const timeline::Timeline& timeline, Window window, const CauseGround& ground);

  bool advance(std::size_t rank_steps) override;
  Causes causes() const override { return sums_.within(timeline_, window_); }

 private:
  /// Of a rank's turns, from the first that was read on.
  using Number = std::uint64_t;
  struct Part {
    Rank rank = 0;
    Nanoseconds length{};
  };
  /// Of a rank, when it posted: with the first of a row of waits, or between two of them.
  struct Post {
    Rank rank = -1;
    Number number = 0;
    Nanoseconds at{};
    partners::WaitsFor what = partners::WaitsFor::kNotSaid;
  };
  struct Settled {
    Turn turn;
    Number first = 0;  ///< Of its row.
    Post ended_by;
    /// It is known that nobody did anything for it while it lasted: what it was for had been sent, or all others had come.
    bool had_all = false;
    Nanoseconds transfer{};
    std::vector<Part> parts;  ///< Of the rest of its wait, the latest first.
  };
  /// Whose post in which row ended this rank's wait in that row: steps agree in what they send and receive, so that it is the
  /// same in all of them.
  struct Habit {
    int row = 0;
    Rank rank = 0;
    int its_row = 0;
    wire::Step later = 0;  ///< By so many steps.
  };
  struct Course {
    explicit Course(TurnReader of_lane) : reader(std::move(of_lane)) {}
    TurnReader reader;
    Number settled = 0;
    std::vector<Settled> latest;   ///< A ring.
    std::vector<Rank> waited_for;  ///< In the row of waits that goes on.
    std::vector<Habit> habits;
  };
  /// Of all ranks.
  struct Meeting {
    wire::Step step = wire::kNoStep;
    int number = 0;
    Post last;  ///< Nobody: not known of some rank.
  };
  struct End {
    Nanoseconds at{};
    Rank rank = 0;
    friend auto operator<=>(const End&, const End&) = default;
  };
  /// Of the wait that is settled: how much of it has no cause yet, which is its beginning.
  struct Open {
    Rank rank = 0;
    Settled* into = nullptr;
    Nanoseconds left{};
  };

  Course* course(Rank rank) { return courses_[std::size_t(rank)].get(); }
  const Course* course(Rank rank) const { return courses_[std::size_t(rank)].get(); }
  /// Of a rank that a call names.
  bool is_there(Rank rank) const { return rank < timeline_.ranks() && course(rank); }
  void expect(Rank rank);
  void settle(Rank rank);
  void explain(Rank rank, Settled& settled);
  bool is_open(Rank rank, const Turn& turn, const Post& ended_by) const;
  void join_row(Course& course, Settled& settled);
  const Settled* at(Rank rank, Number number) const;
  const Turn* turn(Rank rank, Number number) const;
  const Settled* before(Rank rank, Number number) const;
  /// What may have ended a wait.
  enum class Posts {
    /// With which a row began, but those that are two steps later than what has ended such waits before, or more: they were
    /// for later waits. Shortly before the end.
    kDue,
    kOfRows,  ///< With which a row began, when something was sent.
    kAll
  };
  std::optional<Post> post_before(Rank rank, Nanoseconds time, Posts posts) const;
  Post ended_by(Rank rank, const Settled& settled, Posts posts) const;
  std::optional<Post> due(Post post, Rank rank, const Turn& wait) const;
  bool are_known(Rank rank, const Turn& turn) const;
  void find_end(Rank rank, Settled& settled);
  void find_said_end(Rank rank, Settled& settled);
  std::optional<Post> message(Rank from, Rank to, const Turn& wait) const;
  std::optional<Post> receive(Rank by, const Turn& wait) const;
  bool says_what_it_sends(Rank rank, Nanoseconds until) const;
  std::optional<Post> came_to(Rank rank, const Turn& meeting) const;
  const Post& last_to_come(const Turn& meeting);
  static Nanoseconds own(const Turn* turn);
  Habit* habit(Rank rank, const Turn& wait, Rank other) const;
  void learn(Rank rank, const Settled& settled);
  bool follows_from(const Post& late, Rank rank, const Settled& settled) const;
  bool waited_for_post(Rank waiter, const Turn& wait, Rank rank, Number row) const;
  bool is_said_to_wait_for(Rank waiter, const Turn& wait, Rank rank, Number row) const;
  bool leads_back_to(const Post& late, Rank rank, const Settled& settled) const;
  void explain_in_time(Open& open, const Post& late);
  void explain_by_turns(Open& open, const Post& late);
  void take(Open& open, Rank cause, Nanoseconds length, bool direct);
  void take_wait(Open& open, const Settled& wait, Nanoseconds transfer);
  Nanoseconds counted(const Turn& turn, Nanoseconds from, Nanoseconds to) const;

  const timeline::Timeline& timeline_;
  Window window_;
  const CauseGround& ground_;
  Nanoseconds tolerance_;
  std::size_t kept_;                              ///< Turns of a rank.
  std::vector<std::unique_ptr<Course>> courses_;  ///< By rank; null: it tells nothing.
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::deque<Meeting> meetings_;  ///< The latest.
  CauseSums sums_;
};

}  // namespace idlewave::analysis::causes
