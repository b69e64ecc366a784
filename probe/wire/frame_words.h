#pragma once
// What both directions of a frame's encoding go by: its words, and how much of anything is told and believed.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

#include "probe/wire/frame.h"

namespace idlewave::wire {

inline constexpr std::size_t kMaxName = 255;
inline constexpr std::size_t kMaxText = 4096;
inline constexpr std::size_t kMaxDomains = 1u << 18;
inline constexpr double kMaxBandwidth = 1e18;
inline constexpr double kMaxFrequency = 1e12;
inline constexpr std::int64_t kMaxTime = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMinTime = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

// In the order of Frame::body.
inline constexpr std::array<std::string_view, std::variant_size_v<decltype(Frame::body)>> kKinds = {
    "roster",  "events", "outcome", "end",    "attach",  "credit",   "endack",
    "refusal", "hello",  "command", "record", "asktime", "telltime", "lesson"};
// In the order of Command::order.
inline constexpr std::array<std::string_view, std::variant_size_v<decltype(Command::order)>> kOrders = {
    "delay", "noise", "clear", "unknown"};
/// A delay that says in_steps goes by a name of its own: who does not know it refuses it, instead of holding ranks too early.
inline constexpr std::string_view kDelayInSteps = "delay_in";

}  // namespace idlewave::wire
