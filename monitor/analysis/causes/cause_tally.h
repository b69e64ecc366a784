#pragma once
// Goes through the steps of all ranks, oldest first, and says of each wait who caused it.

#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/causes/cause_ground.h"
#include "monitor/analysis/causes/cause_sums.h"
#include "monitor/analysis/causes/rank_causes.h"
#include "monitor/analysis/domains/sharing.h"
#include "monitor/analysis/steps/step_course.h"

namespace idlewave::analysis::causes {

/// Each rank's latest wait is kept as a pile of parts, one for each cause, in the order of time. A rank that waits takes the
/// top of the pile of the rank it waited for: so causes are handed on from rank to rank, and no chain is walked back. Only
/// where a rank had been late before anybody waited for it are a few earlier steps compared. A step in which ranks wait
/// several times, and work in between, is gone through part by part, as far as its events tell. Everything that it is
/// given must outlive it.
class CauseTally : public Tally {
 public:
  CauseTally(const timeline::Timeline& timeline, Window window, const CauseGround& ground);

  bool advance(std::size_t rank_steps) override;
  Causes causes() const override { return sums_.within(timeline_, window_); }

 private:
  using Step = wire::Step;

  /// Of a wait: `rank` is who was late, or one of those that are no rank.
  struct Part {
    Rank rank = 0;
    Nanoseconds length{};
  };
  enum class Presence : std::uint8_t { kThere, kGone, kMissing };
  /// Whether the rank's process ended in the step without saying so, and in what.
  enum class Loss : std::uint8_t { kNone, kInItsPart, kInAWait };
  /// What a rank did in a step. The parts of its wait before `transfer` stand in Row::parts, the latest first.
  struct Place {
    steps::StepCourse course;
    Nanoseconds slowed{};  ///< By others who shared its bandwidth.
    Presence presence = Presence::kMissing;
    Loss loss = Loss::kNone;
    /// Between two waits of this step, or part; nothing: not asked yet.
    std::optional<bool> works_between;
    std::uint32_t first_part = 0, parts = 0;
    Nanoseconds transfer{};
    bool is_open = false;  ///< How much of it is for messages is not known (LastPost).
  };
  struct Row {
    PerRank<Place> ranks;
    std::vector<Part> parts;

    std::span<const Part> parts_of(const Place& place) const {
      return std::span(parts).subspan(place.first_part, place.parts);
    }
  };
  struct NumberedStep {
    Step number = wire::kNoStep;
    Nanoseconds begin{};
  };
  /// Whose post ended a wait.
  struct LastPost {
    Rank rank = -1;  ///< Nobody's but its own.
    Nanoseconds at{};
    Nanoseconds of_others = Nanoseconds::min();  ///< The last of its partners', also where its own came later.
    /// When the first of them ended in its wait: no message of it comes any more.
    Nanoseconds lost = Nanoseconds::max();
    bool known = true;
    bool is_open = false;  ///< Not known only because one came later whose receive a send may have waited for.
    Rank offset = 0;       ///< To that rank; 0: of a collective.
    partners::WaitsFor what = partners::WaitsFor::kNotSaid;  ///< Of that rank, in a part.
    bool is_all = true;  ///< Else a partner's came after the wait had ended: what that waited for was another one.
  };

  static std::vector<NumberedStep> steps_up_to(const timeline::Timeline& timeline, Window window);
  std::size_t trace(const NumberedStep& step);
  void read(const NumberedStep& step);
  std::size_t trace_parts(Step step);
  void trace_row(Step step, bool is_part);
  void begin_row();
  Place place_of(Rank rank, const NumberedStep& step);
  static Nanoseconds post_before(const Place& its, const Place& mine);
  Nanoseconds post_within(Rank other, Step step, const Place& mine) const;
  Nanoseconds started_by(Rank rank, Step step) const;
  LastPost last_partner(Rank rank, Step step, bool is_part) const;
  template <class PostOf>
  LastPost last_of_all(PostOf post_of) const;
  LastPost last_of_all() const;
  bool went_on_before(Rank rank, const LastPost& last) const;
  LastPost last_call_of_all() const;
  bool all_wait_for_the_last(Step step, const LastPost& last, bool is_likely) const;
  void settle(Rank rank, Step step, const LastPost& last);
  bool works_between_waits(Rank rank);
  bool finds_work_between_waits(Rank rank) const;
  bool is_for_messages(Rank rank, Step step, const LastPost& last);
  void explain(Rank rank, const LastPost& last, Nanoseconds need);
  partners::WaitsFor what_ended(Rank rank, Step step, const LastPost& last) const;
  void account_end(Rank rank, Step step, const LastPost& last, Nanoseconds caused);
  bool goes_on_from(std::size_t back, Rank rank) const;
  Nanoseconds take(Rank rank, Rank cause, Nanoseconds length, bool direct);

  bool is_there(Rank rank) const { return row(0).ranks[std::size_t(rank)].presence == Presence::kThere; }
  Row& now() { return rows_[current_]; }
  const Row& row(std::size_t back) const { return rows_[(current_ + rows_.size() - back) % rows_.size()]; }

  const timeline::Timeline& timeline_;
  Window window_;
  const CauseGround& ground_;
  Nanoseconds tolerance_;
  Nanoseconds run_end_;              ///< Of the run, as far as it is looked at.
  std::vector<NumberedStep> steps_;  ///< As the rank that has most of them went through them.
  std::size_t next_ = 0;
  domains::Sharing sharing_;
  std::size_t domains_;  ///< Whose sharing matters: the first so many, which is all or none.
  std::size_t next_domain_ = 0;
  std::vector<Row> rows_;  ///< The latest steps, in a ring.
  std::size_t current_ = 0;
  std::size_t rows_read_ = 0;
  std::vector<Nanoseconds> read_until_;  ///< By rank: begin of the last step that was read.
  bool counts_ = false;                  ///< The step that is settled ended in the window.
  PerRank<LastPost> lasts_;              ///< In the step that is traced, of those who are there.
  CauseSums sums_;
};

}  // namespace idlewave::analysis::causes
