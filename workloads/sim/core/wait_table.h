#pragma once
// Whom each rank waits for, as a real rank would say it: waits that many ranks share, and cycles of steps.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "workloads/support/scenario.h"

namespace idlewave::sim::core {

using support::Rank;

/// Distances from the rank to those its wait depends on, the shorter way round all ranks; each list ascends.
struct Wait {
  bool rendezvous = false;  ///< Sends end only when their receivers are there.
  bool collective = false;  ///< Of all ranks; the lists are empty then.
  std::vector<Rank> from;
  std::vector<Rank> to;
  friend auto operator<=>(const Wait&, const Wait&) = default;
};

/// Waits of a step, one after the other, as places in WaitTable::waits().
using WaitsOfStep = std::vector<std::uint32_t>;

/// What is the same is kept once.
class WaitTable {
 public:
  explicit WaitTable(Rank ranks) : follows_(static_cast<std::size_t>(ranks), 0) {}

  /// Of a rank, by the ranks it receives from and sends to; itself is left out.
  std::uint32_t wait(Rank rank, std::span<const Rank> from, std::span<const Rank> to, bool rendezvous);
  std::uint32_t collective() { return number_of({.collective = true, .from = {}, .to = {}}); }
  /// In step s the rank waits as steps[s mod size] says.
  void follow(Rank rank, const std::vector<WaitsOfStep>& steps);

  const std::vector<Wait>& waits() const { return waits_; }
  const std::vector<std::vector<WaitsOfStep>>& cycles() const { return cycles_; }
  /// By rank: place in cycles() and 1; 0: nothing is said.
  const std::vector<std::uint32_t>& follows() const { return follows_; }

 private:
  std::uint32_t number_of(Wait wait);

  std::vector<Wait> waits_;
  std::vector<std::vector<WaitsOfStep>> cycles_;
  std::vector<std::uint32_t> follows_;
  std::map<Wait, std::uint32_t> wait_numbers_;
  std::map<std::vector<WaitsOfStep>, std::uint32_t> cycle_numbers_;
};

/// Messages to neighbours: one wait for all, or one for each distance.
WaitTable waits_of(const support::Communication& communication, Rank ranks, bool rendezvous);

}  // namespace idlewave::sim::core
