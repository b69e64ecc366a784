#pragma once
// Whom ranks wait for within one step, wait by wait, and what comes of it when all their waits are put together.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "monitor/analysis/per_rank.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::partners {

/// From a rank to others.
using Offsets = std::vector<wire::Rank>;
/// Offsets that a rank waits for in each wait of a step.
using StepWaits = std::vector<Offsets>;

/// The shorter way round; half round is ahead.
wire::Rank shorter_way(std::int64_t offset, wire::Rank ranks);

/// Whom the rank waits for in each wait of a step; a collective of all is told by `collective` instead.
struct Waits {
  StepWaits stages;
  std::size_t entries = 0;  ///< Of all stages.
  /// What is sent before each wait and received in it. None, or empty ones: not known.
  struct Messages {
    Offsets from, to;
    bool rendezvous = false;
  };
  std::vector<Messages> messages;
  std::size_t message_entries = 0;
  bool collective = false;
  bool has_open_sends = false;  ///< To others than it receives from in the same wait.
};

/// Sends of which nobody knows whether they wait for their receivers (SaidWaits).
enum class OpenSends : std::uint8_t { kDoNotWait, kWait };

/// Of a step of the cycle that has the number `kind` among `kinds` of steps; all of them in one, if it is longer. Goes no
/// further than to one wait beyond `most` entries.
Waits waits_of(const timeline::DeclaredWaits& said, std::size_t kind, std::size_t kinds, wire::Rank ranks,
               std::size_t most, OpenSends open = OpenSends::kDoNotWait);
/// As was found out.
Waits waits_of(const StepWaits& step, wire::Rank ranks);

/// Whether somebody waits across the ends.
enum class Shape : std::uint8_t { kRing, kChain };

/// Offsets of a cycle, the shorter way round. Half round both ways are as long, so that this tells nothing and is left out.
class OffsetSpan {
 public:
  void add(std::int64_t offset, wire::Rank ranks);
  bool is_empty() const { return lowest_ == 0 && highest_ == 0; }
  bool goes_across(wire::Rank rank, wire::Rank ranks) const { return rank + lowest_ < 0 || rank + highest_ >= ranks; }

 private:
  wire::Rank lowest_ = 0, highest_ = 0;
};
OffsetSpan span_of(const timeline::DeclaredWaits& said, wire::Rank ranks);
OffsetSpan span_of(const StepWaits& step, wire::Rank ranks);

/// What of another rank ends a wait, as far as that is said. A rank that sends to one that it receives from, and whose sends
/// wait, waits for both.
enum class WaitsFor : std::uint8_t { kNotSaid, kItsMessage, kItsReceive, kBoth, kThroughOthers };

/// From a rank to one that it waits for, directly or not: a delay there comes over so many messages, one after another,
/// of all ways that lead there the most.
struct Way {
  wire::Rank offset = 0;
  std::uint8_t messages = 1;
  WaitsFor what = WaitsFor::kNotSaid;
};
struct Ways {
  std::vector<Way> ways;  ///< Ascending, without one to the rank itself.
  std::uint8_t own = 0;   ///< Messages of the longest way that leads back to the rank itself.
};

struct ComposedStep {
  /// In several waits each rank waits for each other one, directly or not: a collective made by hand, as by recursive
  /// doubling. Whom each awaits is not told then.
  bool all_meet = false;
  /// By rank: the shorter way round, or, in a chain, without going across its ends.
  PerRank<Ways> awaited;
  /// Where all meet: those that each rank's own waits are for. Empty elsewhere, where `awaited` says that.
  PerRank<Ways> directly{};
};
/// Of all ranks' waits in a step. Nothing: more than `most` offsets.
std::optional<ComposedStep> compose(std::span<const Waits* const> waits, Shape shape, std::size_t most);

}  // namespace idlewave::analysis::partners
