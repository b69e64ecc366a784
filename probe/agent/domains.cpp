#include "probe/agent/domains.h"

#include <algorithm>
#include <utility>

namespace idlewave::agent {

using wire::BandwidthSource;
using wire::DomainId;
using wire::DomainInfo;
using wire::Nanoseconds;

namespace {

/// A program that places its ranks itself does so right after it has joined.
constexpr Nanoseconds kTimeToSay = std::chrono::milliseconds(200);

/// A rank may name any number. Beyond this it is not believed.
constexpr std::size_t kMostDomains = 4096;
constexpr double kHighestBandwidth = 1e18;

void add_sentence(std::string& text, const std::string& sentence) {
  if (!text.empty() && !sentence.empty()) text += "; ";
  text += sentence;
}

void raise_to(double& figure, double other) {
  if (other <= kHighestBandwidth) figure = std::max(figure, other);
}

/// What the rank said of its domain's bandwidth; empty where it said nothing, or what can't be.
std::vector<double> curve_of(const shm::Slot& slot) {
  const std::uint32_t points = slot.curve_points.load(std::memory_order_relaxed);
  if (points > shm::kCurvePoints) return {};
  std::vector<double> curve;
  for (std::uint32_t i = 0; i < points; ++i) curve.push_back(slot.curve[i].load(std::memory_order_relaxed));
  const bool possible = std::ranges::all_of(curve, [](double b) { return b > 0 && b <= kHighestBandwidth; });
  return possible ? curve : std::vector<double>();
}

}  // namespace

const Topology& Domains::topology(Nanoseconds now) {
  if (!topology_) topology_ = std::make_unique<Topology>();
  if (!std::exchange(are_met_, true))
    for_each_instrument([&](sampler::Instrument& each) { each.meet(topology_->domains(), now); });
  return *topology_;
}

Domains::Placement Domains::find_place(const Resident& resident, Nanoseconds now) {
  const DomainId said = resident.slot().domain.load(std::memory_order_relaxed);
  const bool is_virtual = resident.slot().domain_virtual.load(std::memory_order_relaxed) != 0;
  if (said >= 0 && is_virtual) return {said, false, true};
  const auto known = places_.find(resident.rank());
  if (said < 0 && known != places_.end() && known->second.domain >= 0) return known->second;
  // One that has stopped says no more, and its process is mostly still there.
  if (said < 0 && !resident.is_over() && now - resident.joined_at() < kTimeToSay) return {};
  const Topology& machine = topology(now);
  if (said >= 0) return {said, false, false};
  const Topology::Place found = are_dead_ ? Topology::Place() : machine.place_of(resident.pid());
  // Its process may have ended before anybody looked.
  const bool is_guess = machine.domains().size() > 1;
  if (found.domain < 0) return {machine.domain_of_processor(resident.slot().processor), is_guess, false};
  return {found.domain, !found.bound, false};
}

bool Domains::place(const Resident& resident, Nanoseconds now) {
  const Placement found = find_place(resident, now);
  if (found.domain < 0 || (domains_.size() >= kMostDomains && !domains_.contains(found.domain))) return false;
  Placement& known = places_[resident.rank()];
  const bool moved = !(known == found);
  known = found;
  for_each_instrument([&](sampler::Instrument& each) { each.place(resident.rank(), found.domain); });
  Domain& domain = domains_[found.domain];
  const DomainInfo before = domain.info;
  // Of the same number as one of the machine's, where a rank was taken to be that had not said yet where it is.
  domain.is_virtual = domain.is_virtual || found.virtual_socket;
  domain.info.id = found.domain;
  domain.info.label = label_of(found.domain, domain.is_virtual);
  raise_to(domain.info.core_bandwidth, resident.slot().core_bandwidth.load(std::memory_order_relaxed));
  raise_to(domain.info.saturated_bandwidth, resident.slot().saturated_bandwidth.load(std::memory_order_relaxed));
  if (std::vector<double> curve = curve_of(resident.slot()); !curve.empty()) domain.info.curve = std::move(curve);
  return moved || !(before == domain.info);
}

DomainId Domains::of(wire::Rank rank) const {
  const auto known = places_.find(rank);
  return known == places_.end() ? wire::kNoDomain : known->second.domain;
}

std::string Domains::label_of(DomainId id, bool is_virtual) const {
  if (is_virtual) return "virtual socket " + std::to_string(id);
  if (topology_ && std::size_t(id) < topology_->domains().size()) return topology_->domains()[std::size_t(id)].label;
  return "domain " + std::to_string(id);
}

void Domains::observe(wire::Rank rank, const std::vector<wire::Event>& events) {
  for (const auto& source : sources_) source->observe(rank, events);
}

void Domains::observe_model(const Resident& resident) {
  const auto found = domains_.find(of(resident.rank()));
  if (found == domains_.end() || !found->second.is_virtual) return;
  const sampler::ModelTotal said{resident.slot().domain_bytes.load(std::memory_order_relaxed),
                                 Nanoseconds(resident.slot().domain_bytes_at.load(std::memory_order_relaxed))};
  if (said.bytes >= found->second.model.bytes) found->second.model = said;
}

sampler::Source* Domains::best_source(const Domain& domain, Nanoseconds now, std::string& why_no_better) {
  for (const auto& source : sources_) {
    const sampler::Standing standing = source->standing({domain.info.id, domain.is_virtual}, now);
    if (standing.ready) return source.get();
    add_sentence(why_no_better, standing.why_not);
  }
  return nullptr;
}

std::string Domains::guesses_in(const Domain& domain) const {
  const auto guessed = std::count_if(places_.begin(), places_.end(), [&](const auto& place) {
    return place.second.guessed && place.second.domain == domain.info.id;
  });
  if (guessed == 0) return {};
  return std::to_string(guessed) + (guessed == 1 ? " rank is" : " ranks are") +
         " not bound to one domain and shown where last seen";
}

bool Domains::sample(Nanoseconds now, EventFrames& frames) {
  bool changed = false;
  for (auto& [id, domain] : domains_) {
    if (domain.is_virtual) {
      for (const auto& source : sources_) source->observe_model(id, domain.model);
      domain.model = {};
    }
    const DomainInfo before = domain.info;
    tell(domain, now, frames);
    add_sentence(domain.info.note, guesses_in(domain));
    changed = changed || !(before == domain.info);
  }
  rest_where_all_are_virtual();
  return read_meters(now, frames) || changed;
}

/// Others may still come: then they are met again.
void Domains::rest_where_all_are_virtual() {
  const auto is_virtual = [](const auto& entry) { return entry.second.is_virtual; };
  if (!are_met_ || domains_.empty() || !std::ranges::all_of(domains_, is_virtual)) return;
  are_met_ = false;
  for_each_instrument([](sampler::Instrument& each) { each.rest(); });
}

bool Domains::read_meters(Nanoseconds now, EventFrames& frames) {
  std::vector<sampler::MeterReading> readings;
  for_each_instrument([&](sampler::Instrument& each) { each.read_meters(now, readings); });
  const auto is_of_machine = [&](DomainId id) {
    const auto known = domains_.find(id);
    return known != domains_.end() && !known->second.is_virtual;
  };
  return meters_.tell(std::move(readings), is_of_machine, now, frames);
}

void Domains::tell(Domain& domain, Nanoseconds now, EventFrames& frames) {
  const wire::LaneId lane{wire::LaneId::Kind::kDomain, domain.info.id};
  domain.info.note.clear();
  sampler::Source* source = best_source(domain, now, domain.info.note);
  if (source == nullptr) {
    domain.from = nullptr;
    domain.info.source = BandwidthSource::kNone;
  } else if (source != domain.from) {
    source->begin(domain.info.id, now);
    domain.from = source;
    domain.info.source = source->kind();
    frames.append(lane, domain.last, {now, 0, wire::EventKind::kStart, wire::Phase::kNone});
  } else if (const auto bytes = source->sample(domain.info.id, now)) {
    frames.append(lane, domain.last,
                  {now, std::min(*bytes, wire::kMaxEventValue), wire::EventKind::kBandwidth, wire::Phase::kNone});
  }
}

std::vector<DomainInfo> Domains::describe() const {
  std::vector<DomainInfo> all;
  for (const auto& [id, domain] : domains_) all.push_back(described(domain));
  return all;
}

DomainInfo Domains::described(const Domain& domain) const {
  DomainInfo info = domain.info;
  const bool is_said = !info.curve.empty() || info.core_bandwidth > 0 || info.saturated_bandwidth > 0;
  if (!calibrated_ || is_said || domain.is_virtual) return info;
  info.core_bandwidth = calibrated_->core;
  info.saturated_bandwidth = calibrated_->saturated;
  info.curve = calibrated_->curve;
  info.calibrated = true;
  return info;
}

}  // namespace idlewave::agent
