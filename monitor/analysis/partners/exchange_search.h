#pragma once
// The search for the exchange that explains best when ranks went on, some work at a time.

#include <cstdint>
#include <vector>

#include "monitor/analysis/look_budget.h"
#include "monitor/analysis/partners/exchange_fit.h"

namespace idlewave::analysis::partners {

/// However the work is cut, the same exchange is found: it depends on the sample alone. One thread.
///
/// Eight rules (ring or chain, eager or rendezvous, one wait or several) grow distance by distance, simple rules first.
/// Where the best leaves something to be told those with several waits are changed, distance by distance, as long as that
/// is of use. In the end what is of no use is dropped, and several waits are put in order.
class ExchangeSearch {
 public:
  explicit ExchangeSearch(steps::StepSample sample);
  ExchangeSearch(const ExchangeSearch&) = delete;
  ExchangeSearch& operator=(const ExchangeSearch&) = delete;

  /// Until the budget is spent, and to the end of what is tried then: at most some hundred passes over the sample. False
  /// once it is done.
  bool advance(LookBudget& budget);
  bool is_done() const { return doing_ == Doing::kIsDone; }

  /// Of a search that is done.
  const Exchange& found() const { return best_.exchange; }
  const steps::StepSample& sample() const { return sample_; }

 private:
  enum class Doing : std::uint8_t {
    kAsksWhoIsIgnored,  ///< Whom a rank leaves behind is nobody whom it waits for.
    kGrows,             ///< Some rules: tries another distance.
    kChanges,           ///< An exchange with several waits: tries what differs in one distance or the order of two.
    kDrops,             ///< What others do the work of.
    kReorders,          ///< Tries the orders of several waits.
    kIsDone,
  };
  struct Fitted {
    Exchange exchange;
    double off = 0;
  };
  /// Some exchanges of which the one is looked for whose ends are off by least, and by less than `best` is.
  struct Contest {
    std::vector<Exchange> candidates;
    std::size_t next = 0;
    Fitted best;
    bool is_won = false;
  };

  void step();
  void ask_next_offset();
  void begin_rules();
  void look_for_another_distance();
  void end_growth();
  void end_rules();
  void begin_changes();
  void begin_start();
  void begin_round();
  void end_round();
  void end_start();
  void conclude();
  void ask_for_ends();
  void drop();
  void tidy();
  void add_receivers();
  void try_next_order();
  void hold_contest(Doing doing, std::vector<Exchange> candidates, double off);
  void try_next_candidate();
  std::vector<Exchange> with_another_distance(const Exchange& exchange) const;
  std::vector<Exchange> changes_of(const Exchange& exchange) const;
  void add_other_distances(const Exchange& exchange, std::vector<Exchange>& changes) const;
  void take(const Fitted& fitted);
  bool has_found() const;
  bool is_told() const;
  Rank farthest(bool ring) const;

  steps::StepSample sample_;
  ExchangeFit fit_{sample_};
  Doing doing_ = Doing::kAsksWhoIsIgnored;
  /// Nanoseconds by which ends are off if all waits last as long.
  double alone_;
  bool asks_of_ring_ = true;
  Rank offset_;
  /// Distances, near ones first; by whether the ranks are a ring.
  std::vector<Rank> possible_[2];
  std::size_t rules_ = 0;       ///< That grow.
  std::vector<Fitted> starts_;  ///< What is changed, one after the other.
  std::size_t start_ = 0;
  int round_ = 0;
  Contest contest_;
  Fitted here_;     ///< That grows, or is changed.
  Exchange order_;  ///< That is tried next.
  Fitted best_;
};

/// In one go: some thousand to some ten thousand passes over the sample.
Exchange find_exchange(const steps::StepSample& sample);

}  // namespace idlewave::analysis::partners
