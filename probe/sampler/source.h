#pragma once
// Where a node's figures come from: of memory bandwidth, and whatever else its hardware tells. One file for each source;
// none of them knows the others. `sources.h` lists them in the order in which the agent asks them.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::sampler {

using wire::DomainId;
using wire::Nanoseconds;

/// How often a domain's bandwidth is told. LIKWID reads too high below 100 ms.
inline constexpr Nanoseconds kInterval = std::chrono::milliseconds(200);

/// A memory contention domain of this machine: the processors of a NUMA node. Numbers are the system's.
struct MachineDomain {
  DomainId id = wire::kNoDomain;
  std::string label;            ///< "socket 0" where a socket is one domain, else "NUMA 3".
  int node = 0;                 ///< The NUMA node; the first of those that share these processors.
  std::vector<int> processors;  ///< Ascending, never empty.
};

/// A domain that the agent asks about: one of the machine's, or a virtual socket of the same number.
struct Domain {
  DomainId id = wire::kNoDomain;
  bool is_virtual = false;
};

/// Bytes that the model of a virtual socket has moved since it was made.
struct ModelTotal {
  std::uint64_t bytes = 0;
  Nanoseconds at{};  ///< When that was so; 0: not known.
};

/// Whether a source can tell anything about a domain now.
struct Standing {
  bool ready = false;
  /// What is missing or broken and how to mend it, beginning with the source's name; may be empty.
  std::string why_not;
};

/// What a meter says.
struct MeterReading {
  wire::MeterInfo meter;
  /// What it has counted since the reading before, in steps of wire::kMeterStep; nothing: it begins to count, or anew.
  std::optional<std::uint64_t> amount;
};

/// What the hardware tells of domains. The agent's thread only; no call waits for anybody but the kernel.
///
/// The agent tells it everything that it learns; an instrument uses what it needs.
class Instrument {
 public:
  virtual ~Instrument() = default;

  /// The machine; told before the first question about a domain of it, and again after rest().
  virtual void meet(const std::vector<MachineDomain>&, Nanoseconds /*now*/) {}
  /// No rank runs on the machine's domains: all are on virtual sockets. Nothing is asked before it is met again.
  virtual void rest() {}
  /// From now on `rank` runs on `domain`.
  virtual void place(wire::Rank, DomainId) {}
  /// Appends what its meters have to say, of domains that ranks run on at least. Asked every few milliseconds.
  virtual void read_meters(Nanoseconds /*now*/, std::vector<MeterReading>&) {}
};

/// One that tells memory bandwidth. Whenever it is ready, the agent may begin to count with it; a source that has lost
/// count is not ready until it can begin anew, so that no figure spans what it has not seen. "Not known" is no figure,
/// never 0.
class Source : public Instrument {
 public:
  virtual wire::BandwidthSource kind() const = 0;

  /// The next events of `rank`, in order.
  virtual void observe(wire::Rank, const std::vector<wire::Event>&) {}
  /// What the rank that is furthest ahead says.
  virtual void observe_model(DomainId, const ModelTotal&) {}

  /// Asked every few milliseconds, until a source that stands before this one is ready.
  virtual Standing standing(const Domain& domain, Nanoseconds now) = 0;
  /// Counting for `domain` begins at `now`.
  virtual void begin(DomainId domain, Nanoseconds now) = 0;
  /// Bytes that `domain` has moved since the figure before (or since begin), if a new figure is due.
  virtual std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) = 0;
};

}  // namespace idlewave::sampler
