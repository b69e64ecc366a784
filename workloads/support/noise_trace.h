#pragma once
// What interrupted a processor, and when: measured with a tool such as netgauge's selfish benchmark, or written by
// hand.
//
// Two forms of line, which may not be mixed. With a comma, times have units:
//
//     start, duration            (this line may stand first, as a heading)
//     1.5 ms, 20 us
//
// Without one they are nanoseconds, as LogGOPSim reads them (`--noise-trace`; Hoefler, Schneider, Lumsdaine 2010):
//
//     1500000<tab>20000
//
// Empty lines, and lines that begin with #, are skipped.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/noise_order.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/support/scenario.h"

namespace idlewave::support {

using wire::Detour;

/// By start; two may overlap. The trace is as long as its last detour says: its start + its duration.
using NoiseTrace = std::vector<Detour>;

/// `name` stands before each complaint: `name:line: ...`. Error: the first line that has not two times, goes back, or
/// has a negative time or one without a unit; no line at all; or detours that together leave no time for work.
wire::Result<NoiseTrace> parse_noise_trace(std::string_view text, std::string_view name);

/// Lines of nanoseconds, which parse_noise_trace reads back as the same trace, and LogGOPSim too.
std::string to_text(const NoiseTrace& trace);

/// `most` bytes, and `wanted` where the file can't be read, as in read_input_file.
wire::Result<NoiseTrace> read_noise_trace(const std::filesystem::path& path, std::size_t most, std::string_view wanted);

/// The trace that `noise` asks for, from a file in `folder` (or anywhere, if its path is absolute); empty if it asks
/// for none.
wire::Result<NoiseTrace> load_noise_trace(const Noise& noise, const std::filesystem::path& folder);

}  // namespace idlewave::support
