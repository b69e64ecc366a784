#include "probe/sampler/declared.h"

#include <algorithm>
#include <cmath>

namespace idlewave::sampler {

using wire::EventKind;
using wire::Phase;

double Declared::Debt::pay(Nanoseconds now) {
  if (bytes <= 0 || now <= counted_at) return 0;
  const double left = double((until - counted_at).count());
  const double share = now >= until ? 1.0 : double((now - counted_at).count()) / left;
  counted_at = now;
  const double paid = bytes * share;
  bytes -= paid;
  return paid;
}

void Declared::RankTraffic::declare(Nanoseconds now, double bytes) {
  const Nanoseconds usual_length = usual[std::size_t(phase)];
  running.bytes += bytes;
  running.counted_at = std::max(running.counted_at, now);
  // Traffic that is declared when most of the phase is over is spread as well, or it would be a spike.
  running.until =
      usual_length.count() > 0 ? std::max(phase_began + usual_length, now + usual_length / 2) : Nanoseconds::max();
  has_declared = true;
}

void Declared::RankTraffic::count(Nanoseconds now) { counted += running.pay(now) + ended.pay(now); }

void Declared::RankTraffic::enter(Nanoseconds now, Phase next) {
  count(now);
  if (running.until != Nanoseconds{}) {  // it has declared traffic
    const Nanoseconds length = now - phase_began;
    usual[std::size_t(phase)] = length;
    ended = {ended.bytes + running.bytes, now, std::max(ended.until, now + length)};
    running = {};
  }
  phase = next;
  phase_began = now;
}

void Declared::RankTraffic::leave() {
  counted += running.bytes + ended.bytes;
  running = ended = {};
  phase = Phase::kNone;
}

void Declared::observe(wire::Rank rank, const std::vector<wire::Event>& events) {
  RankTraffic& traffic = ranks_[rank];
  for (const wire::Event& event : events) observe(traffic, event);
}

void Declared::observe(RankTraffic& traffic, const wire::Event& event) {
  if (event.kind == EventKind::kTraffic) {
    // A declaration carries the time of the event before it, up to which bandwidth may have been told already.
    traffic.declare(std::max(event.time, told_at_[traffic.domain]), double(event.value));
  } else if (event.kind == EventKind::kStop || event.kind == EventKind::kLost) {
    traffic.leave();
  } else if (wire::changes_phase(event.kind)) {
    traffic.enter(event.time, event.phase);
  }
}

Standing Declared::standing(const Domain& domain, Nanoseconds) {
  const auto has_declared = [&](const auto& rank) {
    return rank.second.domain == domain.id && rank.second.has_declared;
  };
  return {!domain.is_virtual && std::any_of(ranks_.begin(), ranks_.end(), has_declared), ""};
}

void Declared::begin(DomainId domain, Nanoseconds now) {
  told_at_[domain] = now;
  for (auto& [rank, traffic] : ranks_) {
    if (traffic.domain != domain) continue;
    traffic.count(now);
    traffic.counted = 0;
  }
}

std::optional<std::uint64_t> Declared::sample(DomainId domain, Nanoseconds now) {
  Nanoseconds& told_at = told_at_[domain];
  if (now - told_at < kInterval) return std::nullopt;
  told_at = now;
  double bytes = 0;
  for (auto& [rank, traffic] : ranks_) {
    if (traffic.domain != domain) continue;
    traffic.count(now);
    const double whole = std::floor(traffic.counted);
    traffic.counted -= whole;
    bytes += whole;
  }
  return std::uint64_t(bytes);
}

}  // namespace idlewave::sampler
