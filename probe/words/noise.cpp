#include "probe/words/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "probe/words/quantity.h"
#include "probe/words/text.h"

namespace idlewave::words {
namespace {

using wire::Error;
using wire::Nanoseconds;
using wire::NoiseKind;
using wire::NoiseOrder;
using wire::Result;

constexpr std::string_view kTrace = "trace:";
constexpr double kLowestFrequency = 1e-6;
constexpr std::size_t kMostWaiting = 1000;
constexpr Nanoseconds kLongestTrace = std::chrono::hours(720);
constexpr int kLeastShareOfWork = 1000;

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

double share(const wire::OrderedTrace& trace) {
  return trace.length > Nanoseconds::zero() ? double(trace.busy.count()) / double(trace.length.count()) : 0;
}

std::string words_of(const wire::OrderedTrace& trace) {
  return fmt::format("trace:{} ({} detour{}, {:.3g} % of {})", trace.file, trace.count, trace.count == 1 ? "" : "s",
                     100 * share(trace), format_duration(trace.length));
}

wire::Status check_trace(const NoiseOrder& order) {
  const std::vector<wire::Detour>& detours = order.trace.detours;
  if (detours.empty() && order.trace.count > 0)
    return Error{"the detours of the trace did not come along; whoever has passed it on is of an older version"};
  if (detours.empty()) return Error{"holds no detour"};
  if (detours.size() > wire::kMaxDetours)
    return Error{
        fmt::format("holds {} lines; an order carries at most {}: measure for a shorter time, or what is longer "
                    "(iw-selfish --duration, --threshold)",
                    detours.size(), wire::kMaxDetours)};
  if (!std::ranges::is_sorted(detours, {}, &wire::Detour::start) || detours.front().start < Nanoseconds::zero())
    return Error{"its detours are not in the order of their time"};
  const auto [shortest, longest] = std::ranges::minmax(detours, {}, &wire::Detour::duration);
  if (shortest.duration < Nanoseconds::zero()) return check_hold(shortest.duration);
  if (longest.duration > wire::kLongestHold) return check_hold(longest.duration);
  if (const Nanoseconds end = std::max(detours.back().start, order.trace.length); end > kLongestTrace)
    return Error{fmt::format("takes {}; a trace that is ordered takes at most {}", format_duration(end),
                             format_duration(kLongestTrace))};
  const NoiseOrder told = order_of_trace(order.trace.file, detours);
  if (told.trace != order.trace || told.amount != order.amount)
    return Error{"the trace is not what the order says of it"};
  if (!leaves_time(order.trace.busy, order.trace.length)) return Error{"leaves no time to work"};
  return wire::ok();
}

}  // namespace

bool names_trace(std::string_view text) { return trimmed(text).starts_with(kTrace); }

std::string_view file_of_trace(std::string_view text) { return trimmed(trimmed(text).substr(kTrace.size())); }

NoiseOrder order_of_trace(std::string_view file, std::vector<wire::Detour> detours) {
  NoiseOrder order{.kind = NoiseKind::kTrace};
  order.trace.file = file.substr(file.find_last_of('/') + 1);
  order.trace.count = static_cast<std::uint32_t>(detours.size());
  if (!detours.empty()) order.trace.length = detours.back().start + detours.back().duration;
  for (const wire::Detour& detour : detours) {
    order.amount = std::max(order.amount, detour.duration);
    order.trace.busy += detour.duration;
  }
  order.trace.detours = std::move(detours);
  return order;
}

bool leaves_time(Nanoseconds busy, Nanoseconds length) {
  return busy < length && length - busy >= length / kLeastShareOfWork;
}

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
    case NoiseKind::kTrace: return words_of(order.trace);
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
  if (order.kind == NoiseKind::kTrace)
    if (const auto status = check_trace(order); !status) return status;
  if (const auto status = check_hold(order.amount); !status) return status;
  switch (order.kind) {
    case NoiseKind::kExponential: return wire::ok();
    case NoiseKind::kPeriodic:
      if (std::isfinite(order.frequency) && order.frequency >= kLowestFrequency)
        return check_leaves_time(order.amount, order.frequency);
      return Error{fmt::format("a frequency of {} Hz; at least {} Hz is accepted", order.frequency, kLowestFrequency)};
    case NoiseKind::kTrace: return wire::ok();
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
