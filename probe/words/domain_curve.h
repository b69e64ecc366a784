#pragma once
// What a contention domain can do, in one word: `10GB/s:19GB/s:24GB/s`, the bandwidth of one, two and three processes,
// or `10GB/s..45GB/s`, that of one and the most there is. Without a comma, at which launchers end a value.

#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::words {

/// Bytes per second.
struct DomainCurve {
  double core = 0;            ///< b(1)
  double saturated = 0;       ///< b_sat, the most that any number of processes draws.
  std::vector<double> curve;  ///< b(1), b(2), ..., where more is known than those two.
};

/// Error: which bandwidth is none.
wire::Result<DomainCurve> parse_domain_curve(std::string_view text);
/// Parsed, it is the same to the last bit.
std::string exact_domain_curve(const DomainCurve& curve);

}  // namespace idlewave::words
