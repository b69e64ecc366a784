#pragma once
// The latest steps that all ranks of a domain have been through. Each step of a rank is read once.

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/window.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::domains {

/// Ranks of a domain that run at a moment.
struct Members {
  std::vector<Rank> ranks;
  std::vector<const timeline::Lane*> lanes;
  std::vector<Nanoseconds> since;     ///< When each began the step that goes on then.
  wire::Step common = wire::kNoStep;  ///< The latest step that all have begun before then.
  /// When the first of them began it; changes with every round. min() where there is none.
  Nanoseconds newest = Nanoseconds::min();

  /// Those of `ranks` that run at `at`; what was here keeps its room.
  void find(const timeline::Timeline& timeline, std::span<const Rank> all, Nanoseconds at);
};

/// Of one member in one step.
struct MemberStep {
  Nanoseconds begin{};
  Nanoseconds length{};
  Nanoseconds waiting{};  ///< And communicating.
  Nanoseconds held{};     ///< By delays and noise.

  Nanoseconds idle() const { return waiting + held; }
  Window work() const;  ///< As work_of has it.
  friend bool operator==(const MemberStep&, const MemberStep&) = default;
};

/// A step that all members have been through.
struct Round {
  std::uint32_t number = 0;  ///< Counts the rounds that were read.
  wire::Step step = wire::kNoStep;
  Nanoseconds first_begin = Nanoseconds::max(), last_begin = Nanoseconds::min(), first_end = Nanoseconds::max();
  Nanoseconds most_idle = Nanoseconds::min();
  Nanoseconds least_wait = Nanoseconds::max();  ///< Waiting and communicating of the member that waited least.
  double usual_work = 0;                        ///< Of the median member, ns.
};

/// Rounds count on from their largest number at 0.
inline bool is_before(std::uint32_t number, std::uint32_t other) { return std::int32_t(number - other) < 0; }

/// A member begins or ends to work in a round.
struct WorkChange {
  Nanoseconds at{};
  std::uint32_t round = 0;  ///< Its number.
  std::uint32_t member : 31 = 0;
  std::uint32_t begins : 1 = 0;
};

/// Of one domain: its rounds at the latest moment that was read, up to 64, of the last two seconds where there are more
/// than 12. A rank's steps are read from where it had come to; all of them once more where ranks came or went, the program
/// began anew, or a node's clock is known better. One thread.
class Rounds {
 public:
  static constexpr std::size_t kMost = 64;

  /// What reading takes and leaves; lent, so that one does for all domains.
  struct Room;

  void read(const Members& members, Nanoseconds at, Room& room);
  /// Keeps nothing, and takes no memory.
  void forget() { *this = Rounds(); }

  /// Newest first.
  std::size_t size() const { return count_; }
  const Round& operator[](std::size_t i) const { return rounds_[slot(i)]; }
  /// Of round i, by member.
  std::span<const MemberStep> of(std::size_t i) const {
    return std::span(steps_).subspan(slot(i) * ranks_.size(), ranks_.size());
  }
  std::size_t members() const { return ranks_.size(); }
  /// In the order of time; those of rounds that are no longer among these may stand between them.
  std::span<const WorkChange> changes() const { return std::span(changes_).subspan(gone_); }

 private:
  std::size_t slot(std::size_t i) const { return (newest_ + i) % kMost; }
  void begin_anew(const Members& members);
  /// True where it came to what is known already.
  bool read_new(const Members& members, Nanoseconds at, Room& room) const;
  bool is_newest(wire::Step step, std::span<const MemberStep> row) const;
  void push(wire::Step step, std::span<const MemberStep> row, Room& room);
  void add_changes(Room& room);
  void drop_forgotten(const Members& members);
  void drop_old(Nanoseconds at);
  void drop_changes();

  std::vector<Rank> ranks_;
  std::vector<MemberStep> steps_;  ///< By slot, in each by member.
  std::vector<Round> rounds_;      ///< By slot.
  std::size_t newest_ = 0, count_ = 0;
  std::uint32_t next_number_ = 0;
  std::vector<WorkChange> changes_;
  std::size_t gone_ = 0;  ///< So many of them are of no use any more.
};

/// The steps of the program that a rank ran at a moment, from that moment back, below step `before`.
class StepsBack {
 public:
  StepsBack(const timeline::Lane& lane, Nanoseconds at, wire::Step before = std::numeric_limits<wire::Step>::max())
      : steps_(lane.steps()), left_(lane.steps_begun_before(at + Nanoseconds{1})), before_(before) {}

  /// Nothing before the first that is kept.
  std::optional<timeline::StepRecord> next();
  /// Step `step`, if it is among those that are left.
  std::optional<timeline::StepRecord> to(wire::Step step);

 private:
  timeline::StepRecords steps_;
  std::size_t left_;
  wire::Step before_;
};

struct Rounds::Room {
  std::vector<StepsBack> back;      ///< By member.
  std::vector<MemberStep> rows;     ///< Newest first, in each by member.
  std::vector<wire::Step> numbers;  ///< Of the rows.
  std::vector<Nanoseconds> work;    ///< Of one row.
  std::vector<WorkChange> changes;
};

}  // namespace idlewave::analysis::domains
