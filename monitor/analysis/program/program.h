#pragma once
// What program a session shows: who waits for whom, what a step's work is, and what held whom. From this a simulator
// can run the same program again.

#include <optional>
#include <string>
#include <vector>

#include "monitor/analysis/domains/own_times.h"
#include "monitor/analysis/partners/exchange.h"
#include "monitor/analysis/partners/exchange_search.h"
#include "monitor/analysis/partners/send_waits.h"
#include "monitor/analysis/steps/common_steps.h"
#include "monitor/analysis/steps/work.h"

namespace idlewave::analysis::program {

/// A rank that was idle before its work.
struct Hold {
  Rank rank = 0;
  /// Index into CommonSteps::numbers.
  std::size_t step = 0;
  Nanoseconds duration{};
};

/// What all ranks do alike.
struct ProgramModel {
  /// Of the largest domain.
  Rank ranks_per_domain = 0;
  partners::Exchange exchange;
  steps::Work work;
};
/// As the ranks say, else as some steps tell, of a machine that nothing else disturbs; found some work at a time. The
/// timeline must outlive it; one thread.
class ModelSearch {
 public:
  /// The exchange is that of those steps; all else is taken from the timeline in the end.
  ModelSearch(const timeline::Timeline& timeline, steps::CommonSteps steps);

  /// Until the budget is spent. False once it is done.
  bool advance(LookBudget& budget);
  /// When it is done.
  ProgramModel found() const;

 private:
  /// What ranks say, when it is known whether their sends wait.
  void hear();

  const timeline::Timeline& timeline_;
  steps::CommonSteps steps_;
  partners::SendSearch sends_;
  std::optional<partners::Exchange> declared_;
  std::optional<partners::ExchangeSearch> search_;  ///< Of what is not declared.
};

/// One line: a session of several nodes, whose clocks are not known to the microseconds that partners are told by.
wire::Status check_clocks(const timeline::Timeline& timeline);

struct Program {
  std::string name;
  /// Of the largest domain.
  Rank ranks_per_domain = 0;
  steps::CommonSteps steps;
  partners::Exchange exchange;
  partners::Unexplained unexplained;
  steps::Work work;
  domains::OwnNoise own_noise;
  /// By how much longer than its messages take each wait lasted, as own_noise.
  domains::OwnNoise late_messages;
  /// Of both, step by step, without `stalls`.
  domains::NoiseModel noise;
  /// By rank, then step; those of 0.1 ms and more. Of the first step also by how much later than the first of all ranks
  /// it began, where that is a hundredth of its work and more.
  std::vector<Hold> holds;
  /// What nobody told of, and is too long to be noise.
  std::vector<Hold> stalls;

  Rank ranks() const { return Rank(steps.ranks.size()); }
  ProgramModel model() const { return {ranks_per_domain, exchange, work}; }
};

/// Error: one line; also as check_clocks().
wire::Result<Program> find_program(const timeline::Timeline& timeline);

/// For each group of `ranks_per_domain` neighbouring ranks: how many of them were at work, on average, between two
/// moments of session time.
std::vector<double> mean_at_work(const steps::CommonSteps& steps, Rank ranks_per_domain, Nanoseconds from,
                                 Nanoseconds to);

}  // namespace idlewave::analysis::program
