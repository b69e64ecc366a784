#pragma once
// Ranks that did their own part of a step much later than is ordinary, though nobody had announced that: a page fault, a
// slow disk, a process that was stopped.

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/contention.h"

namespace idlewave::analysis {

using wire::Nanoseconds;
using wire::Rank;

struct LateStep {
  Rank rank = 0;
  wire::Step step = wire::kNoStep;
  Nanoseconds begin{};   ///< Of the step.
  Nanoseconds since{};   ///< Ordinarily it would have done its part by then.
  Nanoseconds excess{};  ///< How much later it was.
};

/// Reads a session while it goes on, each step once. What is ordinary: a rank's own part of a step (all but waiting,
/// communicating and announced delays) lasts as long as the median of its steps before and after; what all ranks do
/// longer in a step is the program's, and what comes of sharing memory bandwidth is taken off (contention.h). What is
/// left is the noise of all ranks. Its largest values in the latest steps are taken to fall off exponentially, as those
/// of exponential and gamma noise do and bounded noise does faster, so that what lies far beyond them is found, one in
/// ten thousand times by chance. What comes oftener than four times in those steps is noise, however long it lasts.
/// Owned by whoever looks at a session again and again, always the same one; one thread.
class LateSteps {
 public:
  /// Reads what has come to its end since it last did. O(ranks + steps).
  void read(const timeline::Timeline& timeline);
  /// In the order in which they were found; the latest few hundred.
  const std::deque<LateStep>& found() const { return found_; }

 private:
  static constexpr std::size_t kLatest = 16;
  /// Of one rank. Seconds.
  struct Rhythm {
    std::array<float, kLatest> latest{};  ///< Own parts, a ring.
    std::uint32_t steps = 0;              ///< Read in all.
    float ordinary = 0;                   ///< Median of the latest.
    Nanoseconds read_to{-1};              ///< Begin of the last one that was read.
  };
  struct Candidate {
    LateStep step;
    double raw = 0;  ///< Seconds above the rank's ordinary, when it was read.
    /// The same by what is known of all ranks, once it has been looked up; nothing: not yet.
    std::optional<double> excess;
    bool shared = false;  ///< Contention has been taken off.
    bool is_found = false;
  };
  using Candidates = std::vector<Candidate>;

  void note_delays(const timeline::Timeline& timeline);
  void read_lanes(const timeline::Timeline& timeline, Nanoseconds until);
  void read_lane(Rank rank, const timeline::Lane& lane, Nanoseconds until);
  void take(Rank rank, const timeline::Lane& lane, std::span<const timeline::StepRecord> records);
  void admit(Candidate candidate);
  void begin_epoch_if_due();
  double announced(Rank rank, Nanoseconds from, Nanoseconds to) const;
  double own(Rank rank, const StepCourse& course) const;
  static void take_contention_off(Candidate& candidate, const Contention& contention, Nanoseconds typical_step);
  static std::size_t sort_out(std::vector<Candidate*>& candidates, Nanoseconds typical_step);
  void judge(const timeline::Timeline& timeline, Nanoseconds typical_step);
  double excess_of(const timeline::Timeline& timeline, const Candidate& candidate) const;
  double in_all_ranks(const timeline::Timeline& timeline, const Candidate& candidate) const;
  void keep(Candidate& candidate, const timeline::Timeline& timeline);

  std::vector<Rhythm> rhythms_;  ///< By rank.
  /// The largest of this epoch and of the one before, of 128 steps of each rank; neither sorted.
  Candidates now_, before_;
  std::uint64_t steps_now_ = 0, steps_before_ = 0;
  std::map<std::pair<Rank, Nanoseconds>, Nanoseconds> delays_;  ///< That may reach into what is not read yet.
  Nanoseconds read_to_{};
  bool changed_ = false;
  std::deque<LateStep> found_;
};

}  // namespace idlewave::analysis
