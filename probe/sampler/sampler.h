#pragma once
// Where a node's figures of memory bandwidth come from. One file for each source; none of them knows the others, the
// agent chooses.

#include <chrono>
#include <cstdint>
#include <optional>

#include "probe/wire/vocabulary.h"

namespace idlewave::sampler {

using wire::DomainId;
using wire::Nanoseconds;

/// How often a domain's bandwidth is told. LIKWID reads too high below 100 ms.
inline constexpr Nanoseconds kInterval = std::chrono::milliseconds(200);

/// One source of figures. The agent's thread only; no call blocks.
class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual wire::BandwidthSource source() const = 0;
  /// Whether this source can tell anything about `domain` now. It may learn to (traffic was declared) and cease to (the
  /// counters failed).
  virtual bool covers(DomainId domain) const = 0;
  /// Counting for `domain` begins at `now`.
  virtual void begin(DomainId domain, Nanoseconds now) = 0;
  /// Bytes that `domain` moved since the figure before (or since begin), if a new figure is due; called every few
  /// milliseconds.
  virtual std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) = 0;
};

}  // namespace idlewave::sampler
