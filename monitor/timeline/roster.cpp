// What nodes announce, and whom their ranks say that they wait for: the part of Timeline that takes rosters, and tells who is there.

#include <string.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "monitor/timeline/timeline.h"

namespace idlewave::timeline {
namespace {

using wire::Phase;

constexpr std::size_t kMostNodes = 1 << 16;
constexpr wire::Step kMostCompared = 128;    ///< Steps of two cycles.
constexpr std::uint64_t kShareDeclared = 8;  ///< Nodes and domains may take this part of the budget.
constexpr std::size_t kNodeBytes = 512;      ///< With what keeps its stream apart from others.

/// What a domain takes beside its samples: itself, its place among all, and a list of ranks that is counted with them.
std::size_t bytes_of(const std::string& node, const wire::DomainInfo& info) {
  constexpr std::size_t kIndexed = 168;
  return sizeof(Domain) + kIndexed + 2 * node.size() + info.label.size() + info.note.size() +
         info.curve.size() * sizeof(double);
}

/// With its place among all, by name.
std::size_t bytes_of(const wire::MeterInfo& info) {
  constexpr std::size_t kIndexed = 96;
  return sizeof(Meter) + sizeof(SampleLane) + kIndexed + 2 * (info.name.size() + info.unit.size() + info.source.size());
}

std::size_t bytes_of(std::span<const wire::WaitPattern> patterns, std::span<const wire::WaitCycle> cycles) {
  std::size_t bytes = patterns.size_bytes() + cycles.size_bytes();
  for (const wire::WaitPattern& pattern : patterns) bytes += (pattern.from.size() + pattern.to.size()) * sizeof(Rank);
  for (const wire::WaitCycle& cycle : cycles)
    for (const auto& step : cycle.steps) bytes += sizeof step + step.size() * sizeof(step.front());
  return bytes;
}

/// A category that only a newer sender knows is none of ours.
Phase known_category(Phase category) {
  return category >= Phase::kCompute && category <= Phase::kCommunicate ? category : Phase::kNone;
}

BasicPhases basic_phases(const wire::Roster& roster) {
  BasicPhases basic{};
  for (std::uint8_t p = 0; p < wire::kFirstUserPhase; ++p) basic[p] = Phase(p);
  for (const wire::PhaseInfo& info : roster.phases) basic[std::size_t(info.phase)] = known_category(info.category);
  return basic;
}

template <class T>
bool begins_with(const std::vector<T>& all, const std::vector<T>& first) {
  return all.size() >= first.size() && std::equal(first.begin(), first.end(), all.begin());
}

bool phases_consistent(const wire::Roster& roster) {
  return std::all_of(roster.phases.begin(), roster.phases.end(), [](const wire::PhaseInfo& info) {
    const auto value = std::uint8_t(info.phase);
    return value >= wire::kFirstUserPhase && value < wire::kPhaseLimit;
  });
}

bool stands_before(const std::string& a, const std::string& b) { return strverscmp(a.c_str(), b.c_str()) < 0; }

}  // namespace

std::vector<Timeline::NodeStatus> Timeline::nodes() const {
  std::vector<NodeStatus> all;
  for (const auto& [name, node] : nodes_) all.push_back(status_of(name, node));
  std::ranges::sort(all, [](const NodeStatus& a, const NodeStatus& b) { return stands_before(a.name, b.name); });
  return all;
}

std::vector<int> Timeline::domains_by_rank() const {
  std::vector<int> order(domains_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto first_rank = [this](int domain) {
    const std::vector<Rank>& ranks = domains_[std::size_t(domain)].ranks;
    return ranks.empty() ? world_size_ : ranks.front();
  };
  std::ranges::stable_sort(order, {}, first_rank);
  return order;
}

Timeline::NodeStatus Timeline::status_of(const std::string& name, const Node& node) const {
  const NodeClock& clock = node.clock;
  NodeStatus status{
      .name = name, .ranks = node.ranks.size(), .ended = node.ended, .told = clock.told, .simulated = node.simulated};
  const Nanoseconds at = clock.told ? clock.up_to + clock.base : Nanoseconds{};
  if (clock.told) status.told_until = clock.session_time(clock.up_to);
  status.clock_offset = node.curve.offset_at(at);
  status.clock_error = node.curve.error;
  constexpr Nanoseconds kWhile = std::chrono::seconds(1);
  status.clock_drift =
      double((status.clock_offset - node.curve.offset_at(at - kWhile)).count()) / double(kWhile.count());
  return status;
}

bool Timeline::apply_roster(const std::string& name, const wire::Roster& roster) {
  if (!consistent(name, roster) || !has_room_for(name, roster)) return false;
  const bool fresh = !nodes_.contains(name);
  Node& node = nodes_[name];
  if (fresh) {
    set_base(node);
    declared_bytes_ += kNodeBytes + name.size();
  }
  // The next program counts its steps anew, an agent that was started anew its cycles.
  if (node.ended || !begins_with(roster.patterns, node.patterns) || !begins_with(roster.cycles, node.cycles))
    for (const Rank rank : node.ranks) forget_partners(rank);
  node.ended = false;
  note_edge(node);
  node.simulated = roster.agent_pid == 0;
  world_size_ = std::max(world_size_, roster.world_size);
  apply_phases(node, roster);
  apply_partners(node, roster);
  apply_domains(name, node, roster);
  apply_meters(name, node, roster);
  apply_ranks(name, node, roster);
  share_out_budget();
  return true;
}

bool Timeline::consistent(const std::string& name, const wire::Roster& roster) const {
  if (roster.world_size < 0 || roster.world_size > wire::kMaxRanks) return false;
  if (!nodes_.contains(name) && nodes_.size() >= kMostNodes) return false;
  return phases_consistent(roster) && ranks_consistent(name, roster);
}

bool Timeline::ranks_consistent(const std::string& name, const wire::Roster& roster) const {
  const auto known = nodes_.find(name);
  const Node* node = known == nodes_.end() ? nullptr : &known->second;
  std::vector<Rank> ranks;
  std::vector<wire::DomainId> domains;
  for (const wire::DomainInfo& info : roster.domains) domains.push_back(info.id);
  std::sort(domains.begin(), domains.end());
  for (const wire::RankInfo& info : roster.ranks) {
    if (info.rank < 0 || info.rank >= roster.world_size) return false;
    if (info.domain != wire::kNoDomain && !std::binary_search(domains.begin(), domains.end(), info.domain))
      return false;
    if (!may_have(node, info.rank)) return false;
    ranks.push_back(info.rank);
  }
  for (const wire::MeterInfo& meter : roster.meters)
    if (!std::binary_search(domains.begin(), domains.end(), meter.domain)) return false;
  std::sort(ranks.begin(), ranks.end());
  return std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end() &&
         std::adjacent_find(domains.begin(), domains.end()) == domains.end();
}

/// A rank that another node has announced is that node's for as long as it may go on there.
bool Timeline::may_have(const Node* node, Rank rank) const {
  const auto index = std::size_t(rank);
  if (index >= places_.size() || places_[index].lane == nullptr || places_[index].node == node) return true;
  const Node& owner = *places_[index].node;
  return owner.ended && places_[index].lane->state() != LaneState::kLive;
}

std::optional<std::pair<Rank, std::string>> Timeline::claimed_by_another(const std::string& name,
                                                                         const wire::Roster& roster) const {
  const auto known = nodes_.find(name);
  const Node* node = known == nodes_.end() ? nullptr : &known->second;
  for (const wire::RankInfo& info : roster.ranks) {
    if (info.rank < 0 || may_have(node, info.rank)) continue;
    for (const auto& [other, its] : nodes_)
      if (&its == places_[std::size_t(info.rank)].node) return std::pair(info.rank, other);
  }
  return std::nullopt;
}

bool Timeline::has_room_for(const std::string& name, const wire::Roster& roster) const {
  const auto ranks = std::size_t(std::clamp<Rank>(roster.world_size, world_size_, wire::kMaxRanks));
  std::size_t declared = declared_bytes_ + (nodes_.contains(name) ? 0 : kNodeBytes + name.size());
  for (const wire::DomainInfo& info : roster.domains)
    if (domain_index(name, info.id) < 0) declared += bytes_of(name, info);
  for (const wire::MeterInfo& info : roster.meters)
    if (!meter_index_.contains(key_of(domain_index(name, info.domain), info))) declared += bytes_of(info);
  declared += bytes_of(roster.patterns, roster.cycles);
  if (const auto known = nodes_.find(name); known != nodes_.end())
    declared -= bytes_of(known->second.patterns, known->second.cycles);
  return declared <= budget_ / kShareDeclared && ranks * (sizeof(Lane) + sizeof(RankPlace)) + declared <= budget_;
}

void Timeline::apply_phases(Node& node, const wire::Roster& roster) {
  node.clock.basic = basic_phases(roster);
  for (const wire::PhaseInfo& info : roster.phases) phase_names_[std::size_t(info.phase)] = info.name;
}

void Timeline::apply_partners(Node& node, const wire::Roster& roster) {
  declared_bytes_ -= bytes_of(node.patterns, node.cycles);
  node.patterns = roster.patterns;
  node.cycles = roster.cycles;
  declared_bytes_ += bytes_of(node.patterns, node.cycles);
}

void Timeline::forget_partners(Rank rank) {
  partners_.forget(rank);
  places_[std::size_t(rank)].follows = {};
}

void Timeline::follow(RankPlace& place, Rank rank, std::uint64_t cycle) {
  const std::vector<wire::WaitCycle>& cycles = place.node->cycles;
  const std::uint32_t now = cycle <= cycles.size() ? std::uint32_t(cycle) : 0;
  const auto same = [&](std::uint32_t a, std::uint32_t b, wire::Step first, wire::Step last) {
    if (a > cycles.size() || b == 0) return false;
    const auto &one = cycles[a - 1].steps, &other = cycles[b - 1].steps;
    const auto in_all = wire::Step(std::lcm(one.size(), other.size()));
    if (in_all > kMostCompared && last - first > kMostCompared) return false;
    for (wire::Step step = std::max<wire::Step>({first, last - in_all, 0}); step < last; ++step)
      if (one[std::size_t(step) % one.size()] != other[std::size_t(step) % other.size()]) return false;
    return true;
  };
  place.follows = partners_.told(rank, step_of(place), place.follows, now, same);
}

/// That goes on, as far as was told.
std::optional<DeclaredWaits> Timeline::declared_waits(Rank rank) const {
  if (lane(rank) == nullptr) return std::nullopt;
  const RankPlace& place = places_[std::size_t(rank)];
  return waits_of(place, place.follows.cycle);
}

std::optional<DeclaredWaits> Timeline::declared_waits(Rank rank, wire::Step step) const {
  if (lane(rank) == nullptr) return std::nullopt;
  const RankPlace& place = places_[std::size_t(rank)];
  return waits_of(place, partners_.cycle_in(rank, step, place.follows));
}

double Timeline::declared_share(Rank rank) const {
  if (lane(rank) == nullptr) return 0;
  const PartnerLog::Followed& now = places_[std::size_t(rank)].follows;
  const wire::Step first = first_step(), end = latest_step() + 1;
  const wire::Step silent = partners_.silent_steps(rank, first, end, now);
  return 1 - double(silent) / double(std::max<wire::Step>(1, end - first));
}

std::optional<wire::Step> Timeline::partners_forgotten_before() const {
  std::optional<wire::Step> before;
  for (Rank rank = 0; rank < Rank(places_.size()); ++rank)
    before = std::max(before, partners_.forgotten_before(rank, places_[std::size_t(rank)].follows));
  return before;
}

/// A later roster may have left the rank out, and have fewer cycles.
std::optional<DeclaredWaits> Timeline::waits_of(const RankPlace& place, std::uint32_t cycle) const {
  if (cycle == 0 || cycle > place.node->cycles.size()) return std::nullopt;
  return DeclaredWaits{&place.node->cycles[cycle - 1], place.node->patterns};
}

/// Who does not say where figures come from, nor why there are none, as an agent that tells what a dead one left behind, takes
/// nothing back.
void Timeline::take(const wire::DomainInfo& info, wire::DomainInfo& known) {
  const bool says_source = info.source != wire::BandwidthSource::kNone || !info.note.empty();
  wire::DomainInfo before = std::exchange(known, info);
  if (says_source) return;
  known.source = before.source;
  known.note = std::move(before.note);
}

void Timeline::apply_domains(const std::string& name, Node& node, const wire::Roster& roster) {
  for (const wire::DomainInfo& info : roster.domains) {
    const int known = domain_index(name, info.id);
    if (known < 0) {
      const int index = int(domains_.size());
      domain_index_[{name, info.id}] = index;
      domains_.push_back({name, info, {}, {}});
      domain_lanes_.push_back({.clock = &node.clock});
      node.domains.push_back(index);
      declared_bytes_ += bytes_of(name, info);
    } else {
      take(info, domains_[std::size_t(known)].info);
    }
  }
  for (const int domain : node.domains) domains_[std::size_t(domain)].ranks.clear();
}

/// An agent that was started anew may tell the same meters in another order.
void Timeline::apply_meters(const std::string& name, Node& node, const wire::Roster& roster) {
  std::vector<int> places;
  for (const wire::MeterInfo& info : roster.meters)
    places.push_back(add_meter(node, {domain_index(name, info.domain), info}));
  node.meters = std::move(places);
}

Timeline::MeterKey Timeline::key_of(int domain, const wire::MeterInfo& info) {
  return {domain, info.name, info.unit, info.source};
}

/// Its place among all; the one that it has, if it is known.
int Timeline::add_meter(Node& node, Meter meter) {
  const auto [known, is_new] = meter_index_.try_emplace(key_of(meter.domain, meter.info), int(meters_.size()));
  if (!is_new) return known->second;
  declared_bytes_ += bytes_of(meter.info);
  domains_[std::size_t(meter.domain)].meters.push_back(known->second);
  meters_.push_back(std::move(meter));
  meter_lanes_.push_back({.clock = &node.clock});
  return known->second;
}

void Timeline::apply_ranks(const std::string& name, Node& node, const wire::Roster& roster) {
  std::vector<Node*> previous;
  for (const wire::RankInfo& info : roster.ranks) {
    const auto index = std::size_t(info.rank);
    if (index >= places_.size()) places_.resize(index + 1);
    RankPlace& place = places_[index];
    if (place.lane == nullptr) {
      place.lane = &lanes_.emplace_back(node.clock);
      place.node = &node;
      node.ranks.push_back(info.rank);
      settle(*place.lane);
    }
    if (place.node != &node) {
      forget_partners(info.rank);
      previous.push_back(place.node);
      place.node = &node;
      place.lane->belong_to(node.clock);
      if (const auto its = threads_.find(info.rank); its != threads_.end())
        for (Lane* thread : its->second)
          if (thread != nullptr) thread->belong_to(node.clock);
      node.ranks.push_back(info.rank);
    }
    const std::uint32_t cycle = info.cycle <= node.cycles.size() ? info.cycle : 0;
    if (cycle != place.follows.cycle)
      place.follows = partners_.announced(info.rank, step_of(place), place.follows, cycle);
    note_step_source(place, info.steps);
    place.domain = info.domain == wire::kNoDomain ? -1 : domain_index(name, info.domain);
    if (place.domain >= 0) domains_[std::size_t(place.domain)].ranks.push_back(info.rank);
    if (info.rank > program_rank_) continue;
    program_rank_ = info.rank;
    program_ = roster.program;
    machine_ = roster.machine;
  }
  let_go(std::move(previous));
  for (const int domain : node.domains)
    std::sort(domains_[std::size_t(domain)].ranks.begin(), domains_[std::size_t(domain)].ranks.end());
}

void Timeline::note_step_source(RankPlace& place, wire::StepSource source) {
  const wire::StepSource before = std::exchange(place.steps, source);
  if (before == source) return;
  if (source != wire::StepSource::kNotSaid) ++step_sources_[source];
  if (before != wire::StepSource::kNotSaid && --step_sources_[before] == 0) step_sources_.erase(before);
}

/// A rank that has found out that what it took for its steps is none counts others from their first.
void Timeline::take_note_of_step(RankPlace& place, Rank rank, wire::Step step) {
  if (place.steps == wire::StepSource::kFound && place.lane->counts_anew_with(step)) {
    place.lane->forget_steps();
    forget_partners(rank);
    has_forgotten_steps_ = true;
  }
  steps_.add(step);
}

const Timeline::StepRange& Timeline::steps_known() const {
  if (std::exchange(has_forgotten_steps_, false)) {
    steps_ = {};
    for (const RankPlace& place : places_) {
      const auto* const history = place.lane != nullptr ? place.lane->history_.get() : nullptr;
      if (history == nullptr || history->steps.empty()) continue;
      steps_.add(history->steps.front().step);
      steps_.add(history->steps.back().step);
    }
  }
  return steps_;
}

/// Nodes of which ranks have moved away have them no longer.
void Timeline::let_go(std::vector<Node*> previous) {
  std::sort(previous.begin(), previous.end());
  previous.erase(std::unique(previous.begin(), previous.end()), previous.end());
  for (Node* node : previous) {
    const auto has_moved = [&](Rank rank) { return places_[std::size_t(rank)].node != node; };
    std::erase_if(node->ranks, has_moved);
    for (const int domain : node->domains) std::erase_if(domains_[std::size_t(domain)].ranks, has_moved);
  }
}

int Timeline::domain_index(const std::string& node, wire::DomainId id) const {
  const auto found = domain_index_.find({node, id});
  return found == domain_index_.end() ? -1 : found->second;
}

/// Half of the budget goes to buckets at most, a sixth to step records; events take what is left.
void Timeline::share_out_budget() {
  constexpr std::uint64_t kFullLevels = 16;  // after a day about so many levels are full
  const std::uint64_t lanes = std::max<std::uint64_t>(lanes_.size(), 1);
  const std::uint64_t bucket_share = budget_ / 2 / lanes / (kFullLevels * sizeof(Bucket));
  const std::uint64_t step_share = budget_ / 6 / lanes / sizeof(StepRecord);
  const std::uint64_t block_share = budget_ / 4 / lanes / (16 * sizeof(wire::Event));
  const LaneLimits limits{.block_events = std::uint32_t(std::bit_floor(std::clamp<std::uint64_t>(block_share, 8, 256))),
                          .buckets = std::uint32_t(std::bit_floor(std::clamp<std::uint64_t>(bucket_share, 32, 65536))),
                          .steps = std::uint32_t(std::bit_floor(std::clamp<std::uint64_t>(step_share, 16, 1 << 20)))};
  const bool tighter = limits.buckets < limits_.buckets || limits.steps < limits_.steps;
  limits_ = limits;
  if (!tighter) return;
  for (Lane& lane : lanes_) {
    lane.trim(limits_);
    settle(lane);
  }
}

}  // namespace idlewave::timeline
