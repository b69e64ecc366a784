#include "monitor/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace idlewave::timeline {
namespace {

using wire::EventKind;
using wire::Phase;

/// See ClockCurve.
bool can_be(const ClockCurve& curve) {
  const auto& knots = curve.knots;
  const auto in_range = [](const ClockKnot& knot) { return plausible(knot.at) && plausible(knot.offset); };
  const auto too_steep = [](const ClockKnot& a, const ClockKnot& b) {
    const double length = double((b.at - a.at).count());
    return length <= 0 || std::abs(double((b.offset - a.offset).count())) > ClockCurve::kSteepest * length + 1;
  };
  return !knots.empty() && std::ranges::all_of(knots, in_range) &&
         std::adjacent_find(knots.begin(), knots.end(), too_steep) == knots.end();
}

constexpr std::uint64_t kShareOfSpares = 16;  ///< Of the budget, beyond it.
constexpr std::uint64_t kShareOfCalls = 8;    ///< They may take this part of the budget.
constexpr std::uint64_t kShareOfPartners = 32;
constexpr std::uint64_t kShareOfDelays = 32;
constexpr std::size_t kSamplesKept = 1 << 18;  ///< Of all domains together, and of all meters.

}  // namespace

Timeline::Timeline(std::uint64_t memory_budget_bytes)
    : budget_(memory_budget_bytes),
      spare_blocks_(memory_budget_bytes / kShareOfSpares),
      delays_(memory_budget_bytes / kShareOfDelays),
      calls_(memory_budget_bytes / kShareOfCalls),
      partners_(memory_budget_bytes / kShareOfPartners) {
  phase_names_ = {"none", "compute", "wait", "communicate", "delay", "noise"};
  share_out_budget();
}

// --- time ---

void Timeline::set_base(Node& node) {
  if (!has_origin_) return;
  NodeClock& clock = node.clock;
  const std::vector<ClockKnot>& knots = node.curve.knots;
  if (!clock.base_is_fixed) clock.base = origin_ + knots.front().offset;
  clock.correction = origin_ + knots.front().offset - clock.base;
  clock.bends.clear();
  if (knots.size() == 1) return;
  for (const ClockKnot& knot : knots) clock.bends.push_back({knot.at - clock.base, origin_ + knot.offset - clock.base});
}

void Timeline::begin_at(const std::string& node, Nanoseconds time) {
  const auto found = nodes_.find(node);
  if (has_origin_ || found == nodes_.end() || !plausible(time)) return;
  has_origin_ = true;
  origin_ = time - found->second.curve.offset_at(time);
  for (auto& [name, each] : nodes_) set_base(each);
}

/// The same for the first of some events whose time can be one.
void Timeline::begin_at_first(const std::string& node, std::span<const wire::Event> events) {
  const auto first =
      std::find_if(events.begin(), events.end(), [](const auto& event) { return plausible(event.time); });
  if (first != events.end()) begin_at(node, first->time);
}

void Timeline::set_clock(const std::string& node, ClockCurve curve) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !can_be(curve)) return;
  found->second.curve = std::move(curve);
  set_base(found->second);
  begin_.reset();
  note_edge(found->second);
}

void Timeline::note_edge(Node& node) {
  if (node.clock.told) edge_.move(node.edge, {node.clock.session_time(node.clock.up_to), !node.ended});
}

Rank Timeline::reporting(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return 0;
  const auto reports = [&](Rank rank) {
    return lane(rank)->state() != LaneState::kAnnounced || lane(rank)->is_left_out();
  };
  return Rank(std::ranges::count_if(found->second.ranks, reports));
}

std::optional<Nanoseconds> Timeline::clock_error(Rank a, Rank b) const {
  if (lane(a) == nullptr || lane(b) == nullptr) return std::nullopt;
  const Node& first = *places_[std::size_t(a)].node;
  const Node& second = *places_[std::size_t(b)].node;
  // All nodes of a simulation have one clock.
  if (&first == &second || (first.simulated && second.simulated)) return Nanoseconds{0};
  if (!first.curve.error || !second.curve.error) return std::nullopt;
  return *first.curve.error + *second.curve.error;
}

Moment Timeline::moment(const std::string& node, Nanoseconds time) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !has_origin_ || !plausible(time)) return {};
  NodeClock& clock = found->second.clock;
  clock.base_is_fixed = true;
  return {clock, time - clock.base};
}

Nanoseconds Timeline::session_time(const std::string& node, Nanoseconds time) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !has_origin_ || !plausible(time)) return {};
  return found->second.clock.session_time(time - found->second.clock.base);
}

void Timeline::advance(const std::string& node, Nanoseconds up_to) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !has_origin_ || !plausible(up_to)) return;
  NodeClock& clock = found->second.clock;
  clock.base_is_fixed = true;
  const Nanoseconds moment = up_to - clock.base;
  clock.up_to = clock.told ? std::max(clock.up_to, moment) : moment;
  clock.told = true;
  note_edge(found->second);
}

void Timeline::interrupt(const std::string& node, Nanoseconds from) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || !has_origin_ || !plausible(from)) return;
  NodeClock& clock = found->second.clock;
  clock.base_is_fixed = true;
  const Nanoseconds gap = from - clock.base;
  clock.gaps.push_back(clock.gaps.empty() ? gap : std::max(gap, clock.gaps.back()));
  declared_bytes_ += sizeof(Nanoseconds);
  for (const int domain : found->second.domains) domain_lanes_[std::size_t(domain)].interrupt();
  for (const int meter : found->second.meters) meter_lanes_[std::size_t(meter)].interrupt();
}

Nanoseconds Timeline::begin() const {
  if (begin_) return *begin_;
  Nanoseconds begin = Nanoseconds::max();
  for (const auto& [name, node] : nodes_)
    if (node.first != Nanoseconds::max()) begin = std::min(begin, node.clock.session_time(node.first));
  if (begin == Nanoseconds::max()) return now();
  begin_ = begin;
  return begin;
}

Nanoseconds Timeline::now() const { return edge_.now(); }

void Timeline::add_loss(Loss loss) { losses_.add(std::move(loss)); }

void Timeline::add_command(const wire::Command& command, Nanoseconds at) { commands_.add_sent(command, at); }

void Timeline::set_calls(const std::string& node, wire::RankCalls calls) {
  const auto found = nodes_.find(node);
  const bool is_its_own =
      found != nodes_.end() && lane(calls.rank) != nullptr && places_[std::size_t(calls.rank)].node == &found->second;
  if (!is_its_own) return;
  calls_.set(std::move(calls), world_size_);
  keep_budget();
}

void Timeline::add_outcome(const std::string& node, const wire::Outcome& outcome) {
  const auto found = nodes_.find(node);
  commands_.add_outcome(outcome, moment(node, outcome.time), found == nodes_.end() ? nullptr : &found->second.clock);
}

void Timeline::mark_ended(const std::string& node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.ended = true;
  note_edge(found->second);
}

bool Timeline::ended() const {
  return !nodes_.empty() &&
         std::all_of(nodes_.begin(), nodes_.end(), [](const auto& entry) { return entry.second.ended; });
}

// --- events ---

void Timeline::append(const std::string& name, wire::LaneId lane, std::span<const wire::Event> events) {
  if (events.empty()) return;
  const auto found = nodes_.find(name);
  const bool known = found != nodes_.end();
  if (known && lane.kind == wire::LaneId::Kind::kDomain)
    return append_to_domain(name, found->second, lane.index, events);
  const auto rank = std::size_t(lane.index);
  if (known && lane.index >= 0 && rank < places_.size() && places_[rank].node == &found->second)
    return append_to_rank(name, found->second, lane.index, events);
  // Of one that is not known nobody asks which of its ranks it was.
  add_loss({LossKind::kStranger, name, known && lane.kind == wire::LaneId::Kind::kRank ? lane.index : -1,
            moment(name, events.front().time), moment(name, events.back().time), events.size(),
            "its node has not announced this rank"});
}

void Timeline::append_to_rank(const std::string& name, Node& node, Rank rank, std::span<const wire::Event> events) {
  RankPlace& place = places_[std::size_t(rank)];
  append_to_lane(name, node, rank, *place.lane, events,
                 [&](const wire::Event& event) { return take(name, place, rank, event); });
}

/// Of a rank or one of its threads; take(event) puts one into the lane, and says whether that began a block.
template <class Take>
void Timeline::append_to_lane(const std::string& name, Node& node, Rank rank, Lane& lane,
                              std::span<const wire::Event> events, Take take) {
  begin_at_first(name, events);
  if (!has_room_for(lane)) return leave_out(name, lane, events);
  const Nanoseconds base = node.clock.base;
  node.clock.base_is_fixed = has_origin_;
  std::uint64_t left_out = 0;
  for (wire::Event event : events) {
    if (!plausible(event.time)) {
      ++left_out;
      continue;
    }
    event.time -= base;
    if (lane.events_ != 0 && event.time < lane.last_) {
      ++left_out;
      continue;
    }
    if (!take(event)) continue;
    block_order_.push_back(&lane);
    settle(lane);
    keep_budget();
  }
  events_ += events.size() - left_out;
  if (lane.events_ != 0) note_first(node, lane.first_);
  settle(lane);
  keep_budget();
  const Moment last{node.clock, lane.last_};
  if (left_out != 0) add_loss({LossKind::kTimeStep, name, rank, last, last, left_out, "its time went back"});
}

void Timeline::append(const std::string& name, wire::ThreadId id, std::span<const wire::Event> events) {
  if (events.empty()) return;
  const auto found = nodes_.find(name);
  const auto index = std::size_t(id.rank);
  const bool is_its_own = found != nodes_.end() && index < places_.size() && places_[index].node == &found->second;
  if (!is_its_own || id.thread < 1 || id.thread > wire::kMostThreads)
    return add_loss({LossKind::kStranger, name, found != nodes_.end() ? id.rank : -1, moment(name, events.front().time),
                     moment(name, events.back().time), events.size(), "its node has not announced this rank"});
  Lane* const known = thread_lane(found->second, id);
  if (known == nullptr) return add_no_room(name, events);
  Lane& lane = *known;
  append_to_lane(name, found->second, id.rank, lane, events, [&](const wire::Event& event) {
    if (event.kind == EventKind::kDropped) add_dropped(name, id.rank, lane, event);
    if (event.kind == EventKind::kSummed) phases_summed_ += event.value;
    if (!lane.history_) ++lanes_with_events_;
    return lane.append(event, limits_, spare_blocks_);
  });
}

/// Null: there is no room for another one.
Lane* Timeline::thread_lane(Node& node, wire::ThreadId id) {
  const auto index = std::size_t(id.thread - 1);
  if (lane(id) != nullptr) return threads_[id.rank][index];
  if (lanes_with_events_ >= budget_ / Lane::kLeastBytes) return nullptr;
  std::vector<Lane*>& threads = threads_[id.rank];
  if (index >= threads.size()) {
    declared_bytes_ += (index + 1 - threads.size()) * sizeof(Lane*);
    threads.resize(index + 1);
  }
  threads[index] = &lanes_.emplace_back(node.clock);
  settle(*threads[index]);
  share_out_budget();
  return threads[index];
}

int Timeline::threads(Rank rank) const {
  const auto found = threads_.find(rank);
  return found == threads_.end() ? 0 : int(found->second.size());
}

const Lane* Timeline::lane(wire::ThreadId id) const {
  const auto found = threads_.find(id.rank);
  const auto index = std::size_t(id.thread - 1);
  return found != threads_.end() && index < found->second.size() ? found->second[index] : nullptr;
}

void Timeline::add_dropped(const std::string& node, Rank rank, const Lane& lane, const wire::Event& event) {
  const Moment at{*lane.clock_, event.time};
  const Moment from{*lane.clock_, lane.events_ != 0 ? lane.last_ : event.time};
  add_loss({LossKind::kRingFull, node, rank, from, at, event.value, {}});
}

bool Timeline::has_room_for(const Lane& lane) const {
  return lane.history_ || lanes_with_events_ < budget_ / Lane::kLeastBytes;
}

void Timeline::leave_out(const std::string& name, Lane& lane, std::span<const wire::Event> events) {
  lane.is_left_out_ = true;
  add_no_room(name, events);
}

void Timeline::add_no_room(const std::string& name, std::span<const wire::Event> events) {
  add_loss({LossKind::kNoRoom, name, -1, moment(name, events.front().time), moment(name, events.back().time),
            events.size(), std::to_string(budget_ / Lane::kLeastBytes)});
}

/// Lane time. Returns true if it began a block of events.
bool Timeline::take(const std::string& node, RankPlace& place, Rank rank, const wire::Event& event) {
  const bool turns = place.own_delay.turns(event), holds = place.own_delay.goes_on();
  const Moment at{*place.lane->clock_, event.time};
  if (turns && !holds) delays_.end(std::exchange(place.open_delay, DelayLog::kNone), at);
  if (event.kind >= EventKind::kStep && event.kind != EventKind::kTraffic) take_note(node, place, rank, event);
  if (turns && holds)
    place.open_delay = delays_.begin({.rank = rank, .step = step_of(place), .begin = at, .by_phase = true});
  if (!place.lane->history_) ++lanes_with_events_;
  return place.lane->append(event, limits_, spare_blocks_);
}

void Timeline::note_first(Node& node, Nanoseconds lane_time) {
  if (lane_time < node.first) node.first = lane_time, begin_.reset();
}

void Timeline::take_note(const std::string& node, RankPlace& place, Rank rank, const wire::Event& event) {
  const Lane& lane = *place.lane;
  const Moment at{*lane.clock_, event.time};
  switch (event.kind) {
    case EventKind::kStep: take_note_of_step(place, rank, wire::Step(event.value)); break;
    case EventKind::kDelayBegin: begin_hold(place, rank, event); break;
    case EventKind::kDelayEnd: end_hold(place, event); break;
    case EventKind::kPartners: follow(place, rank, event.value); break;
    case EventKind::kDropped: add_dropped(node, rank, lane, event); break;
    case EventKind::kSummed: phases_summed_ += event.value; break;
    case EventKind::kLost: add_loss({LossKind::kRankLost, node, rank, at, at, 1, {}}); break;
    default: break;
  }
}

/// Told when the step that goes on was another than those before it.
wire::Step Timeline::step_of(const RankPlace& place) const {
  const auto steps = place.lane->steps();
  return steps.empty() ? wire::kNoStep : steps.back().step;
}

void Timeline::begin_hold(RankPlace& place, Rank rank, const wire::Event& event) {
  const auto id = wire::CommandId(event.value);
  const NodeClock& clock = *place.lane->clock_;
  if (id != 0) commands_.hold_began(id, clock, event.time);
  if (event.phase != Phase::kDelay) return;
  place.open_delay =
      delays_.begin({.rank = rank, .command = id, .step = step_of(place), .begin = Moment(clock, event.time)});
}

void Timeline::end_hold(RankPlace& place, const wire::Event& event) {
  const auto id = wire::CommandId(event.value);
  const NodeClock& clock = *place.lane->clock_;
  if (id != 0) commands_.hold_ended(id, clock, event.time, world_size_);
  delays_.end(place.open_delay, Moment(clock, event.time));
  place.open_delay = DelayLog::kNone;
}

void Timeline::append_to_domain(const std::string& name, Node& node, wire::DomainId id,
                                std::span<const wire::Event> events) {
  const int domain = domain_index(name, id);
  if (domain < 0)
    return add_loss({LossKind::kStranger, name, -1, moment(name, events.front().time), moment(name, events.back().time),
                     events.size(), "its node has not announced domain " + std::to_string(id)});
  append_samples(name, node, domain_lanes_[std::size_t(domain)], kSamplesKept / domains_.size(), events);
}

void Timeline::append_meter(const std::string& name, std::int32_t place, std::span<const wire::Event> events) {
  if (events.empty()) return;
  const auto found = nodes_.find(name);
  const bool is_known = found != nodes_.end() && std::size_t(place) < found->second.meters.size();
  if (!is_known)
    return add_loss({LossKind::kStranger, name, -1, moment(name, events.front().time), moment(name, events.back().time),
                     events.size(), "its node has not announced meter " + std::to_string(place)});
  Node& node = found->second;
  const int meter = node.meters[std::size_t(place)];
  append_samples(name, node, meter_lanes_[std::size_t(meter)], kSamplesKept / meters_.size(), events);
}

/// Of which `most` are kept.
void Timeline::append_samples(const std::string& name, Node& node, SampleLane& lane, std::size_t most,
                              std::span<const wire::Event> events) {
  begin_at_first(name, events);
  node.clock.base_is_fixed = has_origin_;
  std::uint64_t left_out = 0;
  for (const wire::Event& event : events) {
    // Nothing is subtracted from a time that can't be.
    const bool is_in_order = plausible(event.time) && event.time - node.clock.base >= lane.known_to;
    if (!is_in_order) {
      ++left_out;
      continue;
    }
    const Nanoseconds at = event.time - node.clock.base;
    samples_ += std::size_t(lane.add(at, event, most));
    note_first(node, at);
  }
  events_ += events.size() - left_out;
  if (left_out == 0) return;
  const Moment at = lane.known_to == Nanoseconds::min() ? Moment(begin()) : Moment(node.clock, lane.known_to);
  add_loss({LossKind::kTimeStep, name, -1, at, at, left_out, "the time of a domain's samples went back"});
}

// --- memory ---

void Timeline::settle(Lane& lane) {
  const std::size_t bytes = lane.bytes();
  lane_bytes_ += bytes - lane.counted_bytes_;
  lane.counted_bytes_ = bytes;
}

void Timeline::keep_budget() {
  while (bytes_used() > budget_ && !block_order_.empty()) {
    Lane& oldest = *block_order_.front();
    block_order_.pop_front();
    oldest.forget_oldest_events(spare_blocks_);
    settle(oldest);
  }
}

std::uint64_t Timeline::bytes_used() const {
  return lane_bytes_ + declared_bytes_ + places_.size() * sizeof(RankPlace) + block_order_.size() * sizeof(Lane*) +
         samples_ * sizeof(Sample) + losses_.bytes() + delays_.bytes() + commands_.bytes() + calls_.bytes() +
         partners_.bytes();
}

// --- reading ---

const Lane* Timeline::lane(Rank rank) const {
  return rank >= 0 && std::size_t(rank) < places_.size() ? places_[std::size_t(rank)].lane : nullptr;
}

InSession<std::vector<Sample>> Timeline::samples(int domain) const {
  const SampleLane& lane = domain_lanes_[std::size_t(domain)];
  return {lane.samples, *lane.clock};
}

InSession<std::vector<Sample>> Timeline::meter_samples(int meter) const {
  const SampleLane& lane = meter_lanes_[std::size_t(meter)];
  return {lane.samples, *lane.clock};
}

std::string Timeline::name_of_domain(int domain) const {
  const Domain& named = domains_[std::size_t(domain)];
  return nodes_.size() > 1 ? named.node + " " + named.info.label : named.info.label;
}

int Timeline::domain_of(Rank rank) const {
  return rank >= 0 && std::size_t(rank) < places_.size() ? places_[std::size_t(rank)].domain : -1;
}

std::optional<Nanoseconds> Timeline::forgotten_until() const {
  std::optional<Nanoseconds> until;
  for (Rank rank = 0; rank < ranks(); ++rank) {
    const Lane* lane = this->lane(rank);
    if (lane == nullptr || lane->events() == 0 || lane->events_from() <= lane->first()) continue;
    until = std::max(until.value_or(Nanoseconds::min()), lane->events_from());
  }
  return until;
}

bool Timeline::was_left(Rank rank) const {
  const Lane* lane = this->lane(rank);
  if (lane == nullptr || lane->state() != LaneState::kLive) return false;
  const Node& node = *places_[std::size_t(rank)].node;
  return node.ended && !node.simulated;
}

std::string Timeline::phase_name(Phase phase) const {
  const auto value = std::size_t(phase);
  if (value < phase_names_.size() && !phase_names_[value].empty()) return phase_names_[value];
  return "phase " + std::to_string(value);
}

}  // namespace idlewave::timeline
