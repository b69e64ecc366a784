#include "probe/words/noise.h"

#include <fmt/format.h>

#include <cmath>

#include "probe/words/quantity.h"
#include "probe/words/text.h"

namespace idlewave::words {
namespace {

using wire::Error;
using wire::Nanoseconds;
using wire::NoiseKind;
using wire::NoiseOrder;
using wire::Result;

constexpr double kLowestFrequency = 1e-6;
constexpr std::size_t kMostWaiting = 1000;

Error refuse(std::string_view text) {
  return {
      fmt::format("\"{}\" is not noise; write exp:MEAN or periodic:DURATION@FREQUENCY, as in exp:0.5ms or "
                  "periodic:2.5ms@10Hz",
                  text)};
}

Result<NoiseOrder> parse_exponential(std::string_view mean) {
  const auto amount = parse_duration(mean);
  if (!amount) return amount.error();
  return NoiseOrder{.kind = NoiseKind::kExponential, .amount = *amount};
}

Result<NoiseOrder> parse_periodic(std::string_view duration_and_frequency) {
  const auto parts = split(duration_and_frequency, '@');
  const auto duration = parse_duration(parts[0]);
  if (!duration) return duration.error();
  const auto frequency = parse_frequency(parts[1]);
  if (!frequency) return frequency.error();
  if (const auto status = check_leaves_time(*duration, *frequency); !status) return status.error();
  return NoiseOrder{.kind = NoiseKind::kPeriodic, .amount = *duration, .frequency = *frequency};
}

}  // namespace

Result<NoiseOrder> parse_noise(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return refuse(text);
  const std::string_view kind = trimmed(text.substr(0, colon));
  const std::string_view rest = text.substr(colon + 1);
  if (kind == "exp") return parse_exponential(rest);
  if (kind == "periodic" && split(rest, '@').size() == 2) return parse_periodic(rest);
  return refuse(text);
}

std::string to_words(const NoiseOrder& order) {
  switch (order.kind) {
    case NoiseKind::kExponential: return "exp:" + exact_duration(order.amount);
    case NoiseKind::kPeriodic:
      return fmt::format("periodic:{}@{}", exact_duration(order.amount), exact_frequency(order.frequency));
  }
  return std::string(name_of(order.kind));
}

wire::Status check_leaves_time(Nanoseconds duration, double frequency) {
  if (static_cast<double>(duration.count()) * 1e-9 * frequency < 1) return wire::ok();
  return Error{fmt::format("an interruption of {} at {} leaves no time to work; shorten it or lower the frequency",
                           exact_duration(duration), exact_frequency(frequency))};
}

Result<Nanoseconds> parse_hold(std::string_view text) {
  const auto duration = parse_duration(text);
  if (!duration) return duration.error();
  if (const auto status = check_hold(*duration); !status) return status.error();
  return *duration;
}

Result<NoiseOrder> parse_order_of_noise(std::string_view text) {
  const auto order = parse_noise(text);
  if (!order) return order.error();
  if (const auto status = check_order(*order); !status) return status.error();
  return *order;
}

wire::Status check_hold(Nanoseconds duration) {
  if (duration > Nanoseconds::zero() && duration <= wire::kLongestHold) return wire::ok();
  return Error{fmt::format("a rank can't be held for {}; accepted is more than 0 s and at most {}",
                           format_duration(duration), format_duration(wire::kLongestHold))};
}

wire::Status check_order(const NoiseOrder& order) {
  if (const auto status = check_hold(order.amount); !status) return status;
  switch (order.kind) {
    case NoiseKind::kExponential: return wire::ok();
    case NoiseKind::kPeriodic:
      if (std::isfinite(order.frequency) && order.frequency >= kLowestFrequency)
        return check_leaves_time(order.amount, order.frequency);
      return Error{fmt::format("a frequency of {} Hz; at least {} Hz is accepted", order.frequency, kLowestFrequency)};
  }
  return Error{fmt::format("noise of kind {}, which is not known here", static_cast<int>(order.kind))};
}

wire::Status check_load(wire::Rank rank, Nanoseconds wanted, Nanoseconds left, std::size_t waiting) {
  const auto seconds = [](Nanoseconds span) { return std::chrono::duration<double>(span).count(); };
  if (wanted > left)
    return Error{
        fmt::format("rank {} may be held for {:.9g} s more in this session, not for {:.9g} s: all orders together are "
                    "limited to {:.9g} s",
                    rank, seconds(left), seconds(wanted), seconds(wire::kLongestHold))};
  if (waiting >= kMostWaiting) return Error{fmt::format("rank {} has {} delays waiting already", rank, waiting)};
  return wire::ok();
}

}  // namespace idlewave::words
