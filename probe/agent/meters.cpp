#include "probe/agent/meters.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace idlewave::agent {

bool Meters::tell(std::vector<sampler::MeterReading> readings, const std::function<bool(wire::DomainId)>& is_told,
                  wire::Nanoseconds now, EventFrames& frames) {
  bool is_new = false;
  for (sampler::MeterReading& reading : readings) {
    if (!is_told(reading.meter.domain)) continue;
    const auto place = std::size_t(std::ranges::find(all_, reading.meter) - all_.begin());
    if (place == all_.size()) {
      if (all_.size() == wire::kMaxMeters) continue;
      all_.push_back(std::move(reading.meter));
      last_.emplace_back();
      is_new = true;
    }
    const auto kind = reading.amount ? wire::EventKind::kBandwidth : wire::EventKind::kStart;
    const std::uint64_t value = std::min(reading.amount.value_or(0), wire::kMaxEventValue);
    frames.append_meter(std::int32_t(place), last_[place], {now, value, kind, wire::Phase::kNone});
  }
  return is_new;
}

}  // namespace idlewave::agent
