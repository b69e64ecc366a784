#pragma once
// The same bandwidths as likwid-bench has them, where that is installed: a program of its own, under another licence.

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "monitor/cli/calibration/measurement.h"

namespace idlewave::cli::calibration {

/// Its loop that does what ours does, with as many bytes counted in an iteration as STREAM counts; empty: it has none.
std::string_view likwid_name_of(StreamKind kind);

/// "MByte/s: 9394.59" of what it prints, in bytes per second.
std::optional<double> parse_likwid_bandwidth(std::string_view output);

/// b(1), b(2), ..., one run each, on the machine's `index`-th memory domain; converted to our count of bytes. Empty: it
/// has no such loop, or a run of it failed.
std::vector<double> ask_likwid_bench(const std::filesystem::path& program, StreamKind kind, std::size_t index,
                                     const MeasuredDomain& domain, std::uint64_t array_bytes);

}  // namespace idlewave::cli::calibration
