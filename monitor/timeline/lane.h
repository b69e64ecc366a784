#pragma once
// The history of one rank: its events while the budget allows, shares of time at several resolutions for longer, and a
// record per step.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "monitor/timeline/event_store.h"
#include "monitor/timeline/in_session.h"
#include "monitor/timeline/node_clock.h"
#include "monitor/timeline/pyramid.h"
#include "monitor/timeline/ring.h"
#include "monitor/timeline/step_sums.h"
#include "monitor/timeline/thread_log.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

using wire::Nanoseconds;
using wire::Rank;

/// Shares of a slice of time, each in [0, 1], their sum at most 1; the rest is time of which nothing is known.
struct Shares {
  std::array<float, kCategories> of{};
  float operator[](Category category) const { return of[static_cast<std::size_t>(category)]; }
  float known() const { return of[0] + of[1] + of[2] + of[3]; }
};

/// One step of one rank, from the moment it began to the moment the next one began.
struct StepRecord {
  wire::Step step = wire::kNoStep;
  Nanoseconds begin{};
  Nanoseconds compute{};
  Nanoseconds wait{};  ///< Phase wait alone.
  Nanoseconds communicate{};
  Nanoseconds delay{};  ///< Delays and noise.
  /// 0 while the step goes on. The last step of a lane ends with its last phase, or with the lane.
  Nanoseconds end{};
  /// Those after it included that came so soon that they were told as sums, and not one by one.
  std::int64_t steps = 1;

  /// Of the end of a stored step that goes on: in lane time, 0 is a moment like any other.
  static constexpr Nanoseconds kGoesOn = Nanoseconds::min();
  /// Of one that has ended.
  StepSums sums() const {
    return {steps, (end - begin).count(), compute.count(), (wait + communicate).count(), delay.count()};
  }
  StepRecord in_session(const NodeClock& clock) const {
    StepRecord read = *this;
    read.begin = clock.session_time(begin);
    read.end = end == kGoesOn ? Nanoseconds{} : clock.session_time(end);
    return read;
  }
};
using StepRecords = InSession<Ring<StepRecord>>;

/// What was told as sums (wire::EventKind::kSummed).
struct Summed {
  std::uint64_t phases = 0;
  Nanoseconds time{};
};

enum class LaneState : std::uint8_t { kAnnounced, kLive, kStopped, kLost };

/// How much of its past a lane keeps; follows from the timeline's budget and the number of lanes.
struct LaneLimits {
  std::uint32_t block_events = 256;  ///< Events are kept and forgotten in blocks of so many.
  std::uint32_t buckets = 65536;     ///< For each resolution; a power of two.
  std::uint32_t steps = 65536;
};

/// Owned by Timeline; main thread only. All times in and out are session time.
class Lane {
 public:
  explicit Lane(const NodeClock& clock) { belong_to(clock); }

  /// What a lane with events takes of memory at least, in a session of hours: its newest events, its latest step, and 32
  /// buckets of each width.
  static constexpr std::size_t kLeastBytes = 5000;

  LaneState state() const { return state_; }
  /// It reports, but there was no room for another lane with events: it stays as it was announced.
  bool is_left_out() const { return is_left_out_; }
  wire::Phase phase() const { return phase_; }  ///< That goes on since the last event.
  Nanoseconds first() const;                    ///< Time of the first event.
  Nanoseconds last() const;                     ///< Time of the last event.
  /// The last phase is known to have lasted until here (the node's up_to, or the end of the lane).
  Nanoseconds known_until() const;
  /// Active ones, 1 unless told otherwise.
  int threads() const { return history_ && history_->threads ? history_->threads->active() : 1; }
  std::uint64_t events() const { return events_; }  ///< In all, also those whose detail is gone.
  Summed summed() const { return history_ ? history_->summed : Summed{}; }

  /// Exact time in `category` within [from, to) where events are kept; before that, from the buckets (error at most
  /// 1/255 of a bucket per bucket). O(log events + events within one block) for each end of the window.
  Nanoseconds time_in(Category category, Nanoseconds from, Nanoseconds to) const;
  /// The same for every category at once. Their sum is how long the rank was there and told what it did: time before
  /// its start, after its stop, between two programs and in holes is none of it.
  Times times(Nanoseconds from, Nanoseconds to) const;
  /// What its threads did in [from, to), from when on it first told how many are active; nothing: it never did. Costs as
  /// times().
  std::optional<ThreadTimes> thread_times(Nanoseconds from, Nanoseconds to) const;
  /// Shares for each of out.size() equal slices of [from, to), by the same rule.
  void shares(Nanoseconds from, Nanoseconds to, std::span<Shares> out) const;

  /// Records of the steps that are kept, oldest first. The last one may be going on.
  StepRecords steps() const;
  /// There were older ones.
  bool has_forgotten_steps() const { return history_ && history_->has_forgotten_steps; }
  /// How many of them began before `at`. O(log steps), and about O(1) where steps are equally long.
  std::size_t steps_begun_before(Nanoseconds at) const;
  /// Over the kept steps that ended after `from` and at `to` or before. Costs as steps_begun_before.
  StepSums sums_of_steps(Nanoseconds from, Nanoseconds to) const;
  /// Calls visit(const StepRecord&) (session time) for the latest step that had begun at `from`, and for those that began
  /// after it and before `to`, in order.
  template <class Visit>
  void for_each_step(Nanoseconds from, Nanoseconds to, Visit visit) const {
    if (!history_) return;
    const std::size_t begun = steps_begun_before(from + Nanoseconds{1});
    const Nanoseconds until = clock_->lane_time(to);
    auto step = history_->steps.begin() + std::ptrdiff_t(begun == 0 ? 0 : begun - 1);
    for (; step != history_->steps.end() && step->begin < until; ++step) visit(step->in_session(*clock_));
  }
  /// The latest record of step `k`, if it is kept. O(1) when steps are numbered without gaps; else O(log steps) for each
  /// program that the rank has run in this session.
  std::optional<StepRecord> step(wire::Step k) const;
  /// The record of step `k` of the program that the rank ran at `at`: the next one counts from 0 again.
  std::optional<StepRecord> step(wire::Step k, Nanoseconds at) const;

  /// Oldest time from which every event is kept; known_until() if none is.
  Nanoseconds events_from() const;
  /// Calls visit(const wire::Event&) (session time) for each kept event with from <= time < to, in order.
  template <class Visit>
  void for_each_event(Nanoseconds from, Nanoseconds to, Visit visit) const {
    if (!history_) return;
    history_->events.for_each(clock_->lane_time(from), clock_->lane_time(to), [&](wire::Event event) {
      event.time = clock_->session_time(event.time);
      visit(std::as_const(event));
    });
  }
  /// Calls visit(begin, end, phase) (session time) for each phase between two kept events that is known to have overlapped
  /// [from, to), in order; of the program's own phases, what they are kinds of.
  template <class Visit>
  void for_each_phase(Nanoseconds from, Nanoseconds to, Visit visit) const {
    if (!history_) return;
    const auto tell = [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
      visit(clock_->session_time(begin), clock_->session_time(end), phase);
    };
    history_->events.for_each_phase(clock_->lane_time(from), clock_->lane_time(to), clock_->basic, tell);
  }

 private:
  friend class Timeline;
  friend class RowSum;

  /// Everything that a lane needs once it has events; a million announced ranks that never speak cost little.
  struct History {
    EventStore events;
    Pyramid pyramid;
    Ring<StepRecord> steps;              ///< Lane time, as the restarts.
    StepSumMarks sums;                   ///< Of them.
    std::vector<Nanoseconds> restarts;   ///< When a step began whose number was not above the one before.
    bool in_step = false;                ///< The last step goes on.
    bool is_new_program = false;         ///< Since the last step.
    std::unique_ptr<ThreadLog> threads;  ///< Null until some are told of.
    Summed summed;
    std::optional<Nanoseconds> summed_from;  ///< What is told now are sums, from then on.
    bool step_has_sums = false;
    bool has_forgotten_steps = false;
  };

  /// Takes one event whose time, lane time, is not before the last one's. Returns true if it began a block of events.
  bool append(const wire::Event& event, const LaneLimits& limits, SpareBlocks& spare);
  /// Nobody reads before an event of `last` (lane time) is appended: what would be forgotten by then is not kept.
  void skip_to(Nanoseconds last, const LaneLimits& limits) { history_->pyramid.skip_to(last.count(), limits.buckets); }
  void account(const wire::Event& event, const LaneLimits& limits);
  void account_part(int category, Nanoseconds until, const LaneLimits& limits);
  void account_step(std::int64_t length);
  void begin_step(wire::Step step, Nanoseconds at, const LaneLimits& limits);
  void keep_steps(std::uint32_t limit);
  /// The program counts its steps anew with that one: those before are none.
  bool counts_anew_with(wire::Step step) const {
    return history_ && !history_->is_new_program && !history_->steps.empty() && step <= history_->steps.back().step;
  }
  void forget_steps();
  std::optional<StepRecord> read(const StepRecord* stored) const;
  const StepRecord* latest_step(wire::Step k) const;
  const StepRecord* counted_step(wire::Step k) const;
  const StepRecord* step_between(wire::Step k, Nanoseconds from, Nanoseconds to) const;
  void end_step(Nanoseconds at);
  void follow_sums(const wire::Event& event);
  std::size_t steps_ended_by(Nanoseconds at) const;
  void follow(const wire::Event& event, Nanoseconds before, const LaneLimits& limits);
  void forget_oldest_events(SpareBlocks& spare) { history_->events.forget_oldest_block(spare); }
  void trim(const LaneLimits& limits);
  std::size_t bytes() const;

  /// From its next event on the lane is of this clock's node.
  void belong_to(const NodeClock& clock) { clock_ = &clock, gaps_seen_ = clock.gaps.size(); }
  /// Until when the phase that goes on may be known to last.
  Nanoseconds known_limit() const {
    return gaps_seen_ < clock_->gaps.size() ? std::max(clock_->gaps[gaps_seen_], last_) : Nanoseconds::max();
  }
  bool has_events_kept() const { return history_ && !history_->events.empty(); }
  Nanoseconds known_until_in_lane_time() const;
  Times times_until(Nanoseconds lane_time) const;
  Times times_from_buckets(Nanoseconds from, Nanoseconds to) const;
  Times times_in(Nanoseconds from, Nanoseconds to) const;  ///< Lane time.
  Nanoseconds exact_from() const { return has_events_kept() ? history_->events.from() : last_; }
  /// Calls emit(Piece), lane time, for what is known of [from, to): from events where they are kept, before them from
  /// buckets of `level`, or of wider ones where those are forgotten.
  template <class Emit>
  void for_each_exact_piece(Nanoseconds from, Nanoseconds to, int level, Emit emit) const;
  /// The same for the phase that goes on since the last event.
  template <class Emit>
  void emit_ongoing(Nanoseconds from, Nanoseconds to, Emit& emit) const;
  wire::Phase basic_phase() const { return clock_->basic[std::size_t(phase_)]; }

  const NodeClock* clock_;
  std::unique_ptr<History> history_;
  Nanoseconds first_{};  ///< Lane time, as everything below.
  Nanoseconds last_{};
  std::uint64_t events_ = 0;
  std::size_t gaps_seen_ = 0;  ///< Of its node, at the last event.
  LaneState state_ = LaneState::kAnnounced;
  wire::Phase phase_ = wire::Phase::kNone;
  bool is_left_out_ = false;
  std::size_t counted_bytes_ = 0;  ///< bytes() as Timeline last saw it.
};

template <class Emit>
void Lane::for_each_exact_piece(Nanoseconds from, Nanoseconds to, int level, Emit emit) const {
  if (!history_) return;
  const Nanoseconds exact = exact_from();
  if (from < exact) history_->pyramid.for_each_piece(from.count(), std::min(to, exact).count(), {level, level}, emit);
  history_->events.for_each_phase(from, to, clock_->basic, [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    Piece piece{std::max(begin, from).count(), std::min(end, to).count(), {}};
    piece.shares[std::size_t(category_of(phase))] = 1;
    emit(piece);
  });
  emit_ongoing(from, to, emit);
}

template <class Emit>
void Lane::emit_ongoing(Nanoseconds from, Nanoseconds to, Emit& emit) const {
  if (state_ != LaneState::kLive) return;
  Piece piece{std::max(last_, from).count(), std::min(known_until_in_lane_time(), to).count(), {}};
  piece.shares[std::size_t(category_of(basic_phase()))] = 1;
  if (piece.from < piece.to) emit(piece);
}

}  // namespace idlewave::timeline
