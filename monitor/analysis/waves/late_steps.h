#pragma once
// Ranks that were late by their own doing, much later than is ordinary, though nobody had announced that: a page fault,
// a slow disk, a process that was stopped.

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/domains/contention.h"
#include "monitor/analysis/per_rank.h"
#include "monitor/analysis/steps/step_period.h"

namespace idlewave::analysis::waves {

using wire::Nanoseconds;
using wire::Rank;

struct LateStep {
  Rank rank = 0;
  wire::Step step = wire::kNoStep;
  Nanoseconds begin{};   ///< Of the step.
  Nanoseconds since{};   ///< By then it would have done its part, or gone on.
  Nanoseconds excess{};  ///< How much later it was.
  /// It had done its part in time, and went on so much later than all had done theirs.
  bool after_wait = false;
};

/// Reads a session while it goes on, each step once. Owned by whoever looks at a session again and again, always the same
/// one; one thread.
///
/// Ordinarily a rank's own part of a step (all but waiting, communicating and announced delays) lasts as long as the median
/// of its steps before and after; where kinds of steps come in turn (step_period.h), of those of its kind. What all ranks do
/// longer in a step is the program's doing, and what sharing memory bandwidth adds is taken off (contention.h). What is left
/// is noise. Its largest values in the latest steps are taken to fall off exponentially: those of exponential and gamma
/// noise do, and those of bounded noise fall off faster. What lies far beyond them, once or several times with unlike
/// lengths, is a late step; by chance that happens one in ten thousand times. So is, a third as likely by chance, what lies
/// far beyond the largest values of each moment, for the machine may hold several ranks up together. Never what is longer than
/// others by less than a tenth, nor as long as what all ranks do now and then, or one in turn.
///
/// A rank may also be late to go on after a wait. If it waited half a step longer than usual, it is late by the time since
/// the last of all ranks had done its part of the step. What comes more than four times in those steps is noise, however
/// long it lasts.
class LateSteps {
 public:
  /// Reads what has come to its end since it last did. O(ranks + steps).
  void read(const timeline::Timeline& timeline);
  /// In the order in which they were found; the latest few hundred.
  const std::deque<LateStep>& found() const { return found_; }
  /// By announced delays, in its latest steps: 0 of a rank that is held now and then.
  Nanoseconds held_ordinarily(Rank rank) const;

 private:
  static constexpr std::size_t kLatest = 16;
  /// Of one rank. Seconds.
  struct Rhythm {
    std::array<float, steps::kValuesForPeriod> owns{};    ///< Of the latest steps, a ring.
    std::array<float, kLatest> waits{};                   ///< The same of fewer.
    std::uint32_t steps = 0;                              ///< Read in all.
    std::uint32_t in_a_row = 0;                           ///< Of the latest, whose numbers follow each other.
    std::uint32_t period = 1;                             ///< So many kinds of steps come in turn.
    std::array<float, steps::kLongestPeriod> ordinary{};  ///< Medians by kind; first that of the last one read.
    float ordinary_wait = 0;
    Nanoseconds read_to{-1};               ///< Begin of the last one that was read, as it was understood then.
    wire::Step last_read = wire::kNoStep;  ///< Number of the same.
  };
  /// Of one that announces delays.
  struct Holds {
    std::array<float, kLatest> latest{};  ///< A ring, as of a rhythm.
    float ordinary = 0;
  };
  struct Candidate {
    LateStep step;
    double raw = 0;       ///< Seconds above the rank's ordinary, when it was read.
    double own = 0;       ///< Of work: seconds of its own part.
    Nanoseconds until{};  ///< When it had done its part, or went on.
    /// The same by what is known of all ranks, once it has been looked up; nothing: not yet.
    std::optional<double> excess;
    bool shared = false;        ///< Contention has been taken off.
    bool is_uncertain = false;  ///< By the model of contention, which tells no better.
    bool is_found = false;

    /// Both held up at once, and alike; by what is left of each, seconds.
    bool is_of_moment(const Candidate& other, double late, double its_late) const;
    bool is_unlike(std::span<Candidate* const> others, double least) const;
  };
  using Candidates = std::vector<Candidate>;
  /// The largest of 128 steps of each rank, not sorted.
  struct Epoch {
    Candidates of_work, after_wait;
    std::uint64_t steps = 0;
  };

  void note_delays(const timeline::Timeline& timeline);
  void read_lane(const timeline::Timeline& timeline, Rank rank, Nanoseconds until);
  void take(const timeline::Timeline& timeline, Rank rank, std::span<const timeline::StepRecord> records);
  static void note_numbers(Rhythm& rhythm, std::span<const timeline::StepRecord> records);
  void learn_ordinary(Rank rank, std::size_t taken);
  void rate_anew(Rank rank);
  static double ordinary_in(const Rhythm& rhythm, wire::Step step);
  static double ordinary_then(const Rhythm& rhythm, std::size_t steps_ago);
  static bool larger(const Candidate& a, const Candidate& b);
  void admit(Candidates& largest, Candidate candidate);
  static bool make_room_for(const Candidate& candidate, Candidates& largest);
  void admit_after_wait(const timeline::Timeline& timeline, LateStep late, double waited);
  void begin_epoch_if_due();
  double announced(Rank rank, Nanoseconds from, Nanoseconds to) const;
  double own(Rank rank, const steps::StepCourse& course) const;
  void take_hold(Rank rank, const steps::StepCourse& course, std::uint32_t step);
  void take_contention_off(Candidate& candidate, const domains::Contention& contention, Nanoseconds typical_step) const;
  static std::size_t sort_out(std::vector<Candidate*>& candidates, Nanoseconds typical_step);
  void judge(const timeline::Timeline& timeline, Nanoseconds typical_step);
  double excess_of(const timeline::Timeline& timeline, const Candidate& candidate) const;
  std::optional<double> ordinary_around(const timeline::Timeline& timeline, Rank rank, Nanoseconds begin) const;
  double in_all_ranks(const timeline::Timeline& timeline, const LateStep& late, double ordinary) const;
  double moved_here(const timeline::Timeline& timeline, const LateStep& late) const;
  void keep(Candidate& candidate, const timeline::Timeline& timeline);

  PerRank<Rhythm> rhythms_;
  std::map<Rank, Holds> holds_;  ///< Few ranks announce any.
  Epoch now_, before_;
  std::map<std::pair<Rank, Nanoseconds>, Nanoseconds> delays_;  ///< That may reach into what is not read yet.
  Nanoseconds read_to_{};
  Nanoseconds typical_step_{};
  bool changed_ = false;
  std::deque<LateStep> found_;
};

}  // namespace idlewave::analysis::waves
