#pragma once
// What a message costs on a LogGOPS network, in whole nanoseconds. The rules are those of goal_run.h.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "probe/wire/result.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// Nanoseconds for all bytes of a message but the first.
class ByteCharge {
 public:
  explicit ByteCharge(double seconds_per_byte)
      : exact_(seconds_per_byte * 1e9),
        whole_(std::llround(exact_)),
        is_whole_(std::abs(exact_ - double(whole_)) <= 1e-6) {}

  std::int64_t of(std::uint64_t bytes) const {
    const std::int64_t charged = std::int64_t(bytes) - 1;
    return is_whole_ ? charged * whole_ : std::int64_t(std::floor(double(charged) * exact_));
  }

 private:
  double exact_;
  std::int64_t whole_;
  bool is_whole_;
};

class Costs {
 public:
  explicit Costs(const support::LogGops& network)
      : latency_(network.latency.count()),
        overhead_(network.overhead.count()),
        gap_(network.gap.count()),
        eager_(network.rendezvous_size),
        per_byte_gap_(network.gap_per_byte),
        per_byte_overhead_(network.overhead_per_byte) {}

  bool is_eager(std::uint64_t bytes) const { return bytes <= eager_; }
  std::int64_t overhead() const { return overhead_; }
  std::int64_t flight() const { return overhead_ + latency_; }
  std::int64_t nic(std::uint64_t bytes) const { return gap_ + per_byte_gap_.of(bytes); }
  std::int64_t send_cpu(std::uint64_t bytes) const { return overhead_ + per_byte_overhead_.of(bytes); }

  /// The larger as numbers without a sign, which makes a difference for 0 bytes.
  std::int64_t receive_cpu(std::uint64_t bytes) const {
    return overhead_ +
           std::int64_t(std::max(std::uint64_t(per_byte_overhead_.of(bytes)), std::uint64_t(per_byte_gap_.of(bytes))));
  }

 private:
  std::int64_t latency_;
  std::int64_t overhead_;
  std::int64_t gap_;
  std::uint64_t eager_;
  ByteCharge per_byte_gap_;
  ByteCharge per_byte_overhead_;
};

/// Of one message, nanoseconds.
struct Charges {
  std::int64_t send_cpu = 0;
  std::int64_t receive_cpu = 0;
  std::int64_t nic = 0;
  bool eager = true;
};

inline Charges charges_of(const Costs& costs, std::uint64_t bytes) {
  return {costs.send_cpu(bytes), costs.receive_cpu(bytes), costs.nic(bytes), costs.is_eager(bytes)};
}

/// Error: parameters that are negative, not finite or out of range.
wire::Status check_costs(const support::LogGops& network);

}  // namespace idlewave::sim::network
