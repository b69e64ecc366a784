#pragma once
// Noise as an operator orders it of running ranks. Header only.

#include <cstdint>
#include <string>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::wire {

/// A processor was away from `start`, counted from the start of a noise trace, for `duration`.
struct Detour {
  Nanoseconds start{};
  Nanoseconds duration{};  ///< May be 0: a last line that says how long the trace is, no more.
  friend bool operator==(const Detour&, const Detour&) = default;
};

/// A noise trace within an order. What it is, in figures, is told to all who watch; its detours go to those alone who
/// have it played.
struct OrderedTrace {
  std::string file;             ///< Its name, without a folder: nobody opens it.
  std::uint32_t count = 0;      ///< Of detours.
  Nanoseconds length{};         ///< Of a round, behind which it begins anew: where its last detour ends.
  Nanoseconds busy{};           ///< All durations together.
  std::vector<Detour> detours;  ///< By start. Empty: left out.
  friend bool operator==(const OrderedTrace&, const OrderedTrace&) = default;
};

/// Idle time that an operator asks of ranks, over and over.
struct NoiseOrder {
  NoiseKind kind = NoiseKind::kExponential;
  Nanoseconds amount{};  ///< Mean of the exponential, duration of each periodic interruption, or the longest detour.
  double frequency = 0;  ///< Hz, periodic only.
  bool ends_with_giver = false;  ///< When whoever gave it has gone. Else it stands until it is cleared, or the end.
  OrderedTrace trace{};          ///< Of a trace only.
  friend bool operator==(const NoiseOrder&, const NoiseOrder&) = default;
};

}  // namespace idlewave::wire
