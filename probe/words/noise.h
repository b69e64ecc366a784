#pragma once
// Noise as people order it, and what may be ordered. Each refusal is one sentence, whoever is asked.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/noise_order.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::words {

/// `exp:0.5ms` (the mean) or `periodic:2.5ms@10Hz`. Interruptions that leave no time to work are refused.
wire::Result<wire::NoiseOrder> parse_noise(std::string_view text);
/// What parse_noise reads as the same order; for a kind that we don't know that it is unknown. Of a trace, which is no word
/// but a file: `trace:noise.txt (2308 detours, 71.7 % of 2.01 s)`.
std::string to_words(const wire::NoiseOrder& order);

/// Whether that is `trace:FILE`, which is for those who may open the file.
bool names_trace(std::string_view text);
/// FILE of that.
std::string_view file_of_trace(std::string_view text);
/// A trace as an order: what it is in figures, and its detours. `file`: of any folder. For check_order to judge.
wire::NoiseOrder order_of_trace(std::string_view file, std::vector<wire::Detour> detours);
/// A thousandth of its time at least, or steps would last for longer than anybody waits. `busy` and `length` as in
/// wire::OrderedTrace.
bool leaves_time(wire::Nanoseconds busy, wire::Nanoseconds length);

/// Interruptions that come again before they have ended would never let a rank go on.
wire::Status check_leaves_time(wire::Nanoseconds duration, double frequency);

// What a rank can be asked for while it runs: to be held for more than 0 and at most wire::kLongestHold.

wire::Result<wire::Nanoseconds> parse_hold(std::string_view text);  ///< A duration, `250ms`.
wire::Result<wire::NoiseOrder> parse_order_of_noise(std::string_view text);
wire::Status check_hold(wire::Nanoseconds duration);
wire::Status check_order(const wire::NoiseOrder& order);

/// Whether a rank may be held for `wanted` more, if orders may hold it for `left` more in this session and so many
/// delays wait already.
wire::Status check_load(wire::Rank rank, wire::Nanoseconds wanted, wire::Nanoseconds left, std::size_t waiting);

}  // namespace idlewave::words
