#include "monitor/ingest/clocks.h"

#include <algorithm>
#include <utility>

namespace idlewave::ingest {
namespace {

using timeline::ClockCurve;
using timeline::ClockKnot;

constexpr std::size_t kMostSamples = 512;
constexpr std::size_t kFewSamples = 16;  ///< Of which each tells much.
constexpr std::size_t kMostReferences = 64;
constexpr std::size_t kTripsWithoutFirst = 8;
constexpr Nanoseconds kLongest = std::chrono::seconds(1);  ///< A trip that tells anything.
/// Clocks of machines that have been up for at most nine years: sums and differences can't overflow.
constexpr Nanoseconds kFarthest{std::int64_t{1} << 57};
/// A curve is looked at so far beyond its last sample.
constexpr Nanoseconds kAhead = std::chrono::seconds(10);
constexpr std::int64_t kWorthTelling = 8;  ///< The part of the error that a change has to exceed.
constexpr Nanoseconds kLeastWorthTelling = std::chrono::microseconds(1);

bool can_be(Nanoseconds time) { return -kFarthest < time && time < kFarthest; }

Nanoseconds middle(Nanoseconds from, Nanoseconds to) { return from + (to - from) / 2; }
Nanoseconds length_of(const wire::RoundTrip& trip) { return (trip.back - trip.asked) - (trip.told - trip.heard); }

bool can_be(const wire::RoundTrip& trip) {
  if (!can_be(trip.asked) || !can_be(trip.back) || !can_be(trip.heard) || !can_be(trip.told)) return false;
  return length_of(trip) >= Nanoseconds(0) && length_of(trip) <= kLongest;
}

/// The farthest that two curves are apart where samples lie and soon after.
Nanoseconds difference(const ClockCurve& a, const ClockCurve& b, std::span<const ClockSample> samples) {
  const auto at = [&](Nanoseconds time) { return std::chrono::abs(a.offset_at(time) - b.offset_at(time)); };
  Nanoseconds most = at(samples.back().at + kAhead);
  for (const ClockSample& sample : samples) most = std::max(most, at(sample.at));
  return most;
}

}  // namespace

/// True where that may change what is known of the clock by more than a look is worth.
bool Clocks::keep(Node& node, const ClockSample& sample) {
  const auto add = [&](std::vector<ClockSample>& samples, const ClockSample& next) {
    const auto interval_of = [&](const ClockSample& each) { return (each.at - node.begin) / node.interval; };
    if (samples.empty() || interval_of(next) != interval_of(samples.back()))
      samples.push_back(next);
    else if (next.half < samples.back().half)
      samples.back() = next;
  };
  const std::size_t before = node.samples.size();
  add(node.samples, sample);
  const bool begins_interval = node.samples.size() > before;
  while ((node.samples.back().at - node.begin) / node.interval >= std::int64_t(kMostSamples)) {
    node.interval *= 2;
    std::vector<ClockSample> fewer;
    for (const ClockSample& each : node.samples) add(fewer, each);
    node.samples = std::move(fewer);
  }
  return begins_interval || node.samples.size() < kFewSamples;
}

/// Sets the clock of the session by a trip to a monitor that nobody has told of yet.
bool Clocks::knows(const Node& node, const wire::RoundTrip& trip) {
  if (ahead_.contains(trip.reference)) return true;
  if (ahead_.size() == kMostReferences) return false;
  const Nanoseconds at = middle(trip.asked, trip.back);
  ahead_[trip.reference] = middle(trip.heard, trip.told) - (at - node.told.offset_at(at));
  return true;
}

/// Nothing if it can't be so.
std::optional<ClockSample> Clocks::sample_of(const wire::RoundTrip& trip) const {
  const Nanoseconds at = middle(trip.asked, trip.back), under_way = length_of(trip);
  const Nanoseconds offset = at - (middle(trip.heard, trip.told) - ahead_.at(trip.reference));
  if (!can_be(offset)) return std::nullopt;
  return ClockSample{at, offset, under_way / 2 + Nanoseconds(1)};
}

/// What is known by all samples, if it differs enough from what was told.
std::optional<ClockCurve> Clocks::news(Node& node, Nanoseconds worth_telling) {
  ClockCurve known = fit_clock(node.samples, node.interval);
  const bool is_other = !node.told.error || difference(known, node.told, node.samples) > worth_telling;
  if (!is_other) known.knots = node.told.knots;
  known.error = error_of(known, node.samples);
  if (!is_other && std::chrono::abs(*known.error - *node.told.error) <= worth_telling) return std::nullopt;
  return node.told = std::move(known);
}

/// True where that may change what is known by more than a look is worth.
bool Clocks::look_at_heard(Node& node) {
  bool is_due = false;
  for (const wire::RoundTrip& trip : std::exchange(node.heard, {})) {
    if (!can_be(trip) || !knows(node, trip)) continue;
    const auto sample = sample_of(trip);
    if (!sample || (!node.samples.empty() && sample->at <= node.samples.back().at)) continue;
    if (node.samples.empty()) node.begin = sample->at;
    is_due = keep(node, *sample) || is_due;
  }
  return is_due;
}

/// Others than the first node leave it to that to set the clock, for a few seconds.
std::optional<ClockCurve> Clocks::take(const std::string& name, std::span<const wire::RoundTrip> trips) {
  if (trips.empty()) return std::nullopt;
  Node& node = nodes_[name];
  node.heard.insert(node.heard.end(), trips.begin(), trips.end());
  const bool waits = ahead_.empty() && name != first_ && (without_it_ += trips.size()) <= kTripsWithoutFirst;
  if (waits || !look_at_heard(node)) return std::nullopt;
  return news(node, std::max(kLeastWorthTelling, node.told.error.value_or(Nanoseconds(0)) / kWorthTelling));
}

std::optional<ClockCurve> Clocks::settle(const std::string& name) {
  const auto known = nodes_.find(name);
  if (known == nodes_.end()) return std::nullopt;
  look_at_heard(known->second);
  if (known->second.samples.empty()) return std::nullopt;
  return news(known->second, Nanoseconds(0));
}

}  // namespace idlewave::ingest
