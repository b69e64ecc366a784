#pragma once
// The ghost: the program that a session shows, with none of its disturbances but those that were told. What it does is
// held against what the ranks did, step by step from the state in which they were, so that a difference is told where it
// arises and not again wherever it is handed on.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/program/program.h"

namespace idlewave::analysis::program {

/// One step of one rank less the ghost's.
struct Departure {
  /// Of its own part, delays excluded: noise, a stall, work of another size. Less than 0: it was done earlier. Unset where
  /// it is not known what else the domain did meanwhile.
  std::optional<Nanoseconds> at_work;
  /// How much later it went on than its partners would have let it, who began to wait when they did.
  Nanoseconds waiting{};

  Nanoseconds sum() const { return at_work.value_or(Nanoseconds{0}) + waiting; }
};

struct Ghost {
  ProgramModel model;
  steps::CommonSteps steps;
  /// [rank][index into steps.numbers]
  std::vector<std::vector<Departure>> departures;
  /// Of a step, mean.
  Nanoseconds step{};

  Rank ranks() const { return Rank(departures.size()); }
};

Ghost ghost_of(ProgramModel model, steps::CommonSteps steps);

struct LargestDeparture {
  Rank rank = 0;
  /// Index into Ghost::steps.
  std::size_t step = 0;
  Departure departure;
};

/// All departures of a ghost in a few figures.
struct DepartureSums {
  /// Their absolute values as a share of the time of all ranks.
  double share = 0;
  /// Sums, by rank.
  std::vector<Nanoseconds> at_work, waiting;
  /// The largest absolute values, at most so many as asked for, those of a hundredth of a step and more.
  std::vector<LargestDeparture> largest;
};
DepartureSums sum_of(const Ghost& ghost, std::size_t largest);

/// The ghost of whatever is looked at, while a session goes on or is played. What it finds of a window depends on the
/// session up to the window's end alone, once nothing is left to learn. One thread.
class GhostFinder {
 public:
  explicit GhostFinder(const timeline::Timeline& timeline) : timeline_(timeline) {}

  /// Of the steps that were over at the window's end: of more rank-steps than a tenth of a core carries four times a
  /// second, the latest. Learns until the budget is spent, and holds what happened against the model before until more is
  /// learnt. Error: one line.
  const wire::Result<Ghost>& observe(Window window, LookBudget budget = LookBudget());
  /// Another look at the latest window will find more, sooner if that is gone on with in between.
  bool is_learning() const { return lesson_.has_value(); }
  void learn(LookBudget budget);
  /// What the latest window had.
  const wire::Result<Ghost>& found() const { return ghost_; }

 private:
  wire::Status begin_lesson(Nanoseconds until);
  wire::Status learn_for(Nanoseconds moment, LookBudget budget);
  wire::Result<Ghost> find(Window window, LookBudget budget);

  const timeline::Timeline& timeline_;
  std::optional<ModelSearch> lesson_;  ///< Begun, and not over.
  Nanoseconds lesson_until_{};         ///< It is of the steps before.
  Nanoseconds learnt_at_ = Nanoseconds::min();
  std::optional<ProgramModel> model_;
  bool is_new_ = false;  ///< Of what is known now no window has been looked at.
  Window window_;
  std::uint64_t events_ = 0;
  wire::Result<Ghost> ghost_ = wire::Error{"no two steps are over yet"};
};

}  // namespace idlewave::analysis::program
