#include "workloads/sim/contention/event_engine.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <type_traits>

namespace idlewave::sim::contention {
namespace {

using wire::Phase;

/// Moments that differ by no more than this part of the time are one moment, told twice with different rounding.
constexpr double kSameMoment = 1e-13;

/// S is kept small for the sake of its resolution. A power of two: taking it off is exact.
constexpr double kRebase = 2;

constexpr double kLongestHold = std::chrono::duration<double>(wire::kLongestHold).count();

constexpr std::uint64_t kLookForStop = 4096;  // events

bool needs_post_times(const Model& model) { return model.transfer > 0 && !model.rendezvous; }

}  // namespace

template <class Observer>
EventEngine<Observer>::EventEngine(Model model, Observer observer, std::shared_ptr<const PhaseNoise> noise,
                                   std::optional<Step> starts_of)
    : model_(std::move(model)),
      observer_(observer),
      ranks_(static_cast<std::size_t>(model_.ranks)),
      domains_(static_cast<std::size_t>(model_.domains())),
      queue_(ranks_.size()),
      holds_(ranks_.size()),
      pending_(domains_.size()),
      starts_(starts_of ? ranks_.size() : 0),
      starts_of_(starts_of.value_or(wire::kNoStep)),
      running_(model_.ranks) {
  if (needs_post_times(model_)) post_times_.emplace(model_.ranks);
  for (Rank rank = 0; rank < model_.ranks; ++rank) at(rank).domain = rank / model_.ranks_per_domain;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    domains_[i].first = static_cast<Rank>(i) * model_.ranks_per_domain;
    domains_[i].size = std::min(model_.ranks_per_domain, model_.ranks - domains_[i].first);
  }
  for (const auto& [where, seconds] : model_.delays) at(where.first).delayed = true;
  set_noise(std::move(noise));
}

template <class Observer>
std::size_t EventEngine<Observer>::bytes_for(const Model& model, bool noise, bool starts) {
  const std::size_t each = sizeof(RankState) + sizeof(Working) + sizeof(Timer) + sizeof(Rank) +
                           (noise ? sizeof(Begun) : 0) + (starts ? sizeof(double) : 0);
  const auto domains = static_cast<std::size_t>(model.domains());
  return static_cast<std::size_t>(model.ranks) * each + domains * sizeof(Domain) + MinTree::bytes_for(domains) +
         (needs_post_times(model) ? PostTimes::bytes_for(model.ranks) : 0);
}

template <class Observer>
void EventEngine<Observer>::advance_until(double time, const std::atomic<bool>* stop) {
  if (!begun_) begin();
  while (pending_.smallest() <= time && pending_.smallest() < MinTree::kNever) {
    if (++events_ % kLookForStop == 0 && stop && stop->load(std::memory_order_relaxed)) return;
    now_ = pending_.smallest();
    happen(pending_.place());
    refresh();
  }
  until_ = std::max(until_, time);
  assert((running_ == 0 || pending_.smallest() < MinTree::kNever) && "deadlock");
}

template <class Observer>
void EventEngine<Observer>::begin() {
  begun_ = true;
  for (Rank rank = 0; rank < model_.ranks; ++rank) begin_step(rank);
  refresh();
}

template <class Observer>
void EventEngine<Observer>::happen(std::size_t number) {
  Domain& domain = touch(number);
  if (domain.finish <= now_) finish_work(domain);
  end_holds(domain);
  go_on();
}

template <class Observer>
auto EventEngine<Observer>::slot(const Domain& domain, Rank place) -> Working& {
  place += domain.head;
  if (place >= domain.size) place -= domain.size;
  return queue_[static_cast<std::size_t>(domain.first + place)];
}

template <class Observer>
void EventEngine<Observer>::finish_work(Domain& domain) {
  while (domain.active > 0 && slot(domain, 0).target <= domain.service) {
    const Rank rank = slot(domain, 0).rank;
    if (++domain.head == domain.size) domain.head = 0;
    --domain.active;
    end_work(rank);
  }
}

template <class Observer>
void EventEngine<Observer>::end_holds(Domain& domain) {
  Timer* const timers = holds_of(domain);
  while (domain.holds > 0 && timers[0].end <= now_) {
    std::pop_heap(timers, timers + domain.holds);
    end_hold(timers[--domain.holds]);
  }
}

/// Brings a domain to now before its members change.
template <class Observer>
auto EventEngine<Observer>::touch(std::size_t number) -> Domain& {
  Domain& domain = domains_[number];
  if (domain.touched) return domain;
  if (domain.active > 0) {
    const double target = slot(domain, 0).target;
    domain.service = domain.finish <= now_
                         ? target
                         : std::min(target, domain.service + (now_ - domain.time) / seconds_of_work(domain));
  }
  domain.time = now_;
  domain.touched = true;
  touched_.push_back(number);
  return domain;
}

/// Finds the next moment of each domain that has changed.
template <class Observer>
void EventEngine<Observer>::refresh() {
  for (const std::size_t number : touched_) {
    Domain& domain = domains_[number];
    domain.touched = false;
    rebase(domain);
    domain.finish = domain.active > 0
                        ? domain.time + (slot(domain, 0).target - domain.service) * seconds_of_work(domain)
                        : MinTree::kNever;
    pending_.set(number, domain.holds > 0 ? std::min(domain.finish, holds_of(domain)->end) : domain.finish);
  }
  touched_.clear();
}

template <class Observer>
void EventEngine<Observer>::rebase(Domain& domain) {
  if (domain.active == 0) domain.service = 0;
  if (domain.service < kRebase) return;
  domain.service -= kRebase;
  for (Rank place = 0; place < domain.active; ++place) slot(domain, place).target -= kRebase;
}

template <class Observer>
void EventEngine<Observer>::hold(Rank rank, double end, Hold what) {
  Domain& domain = touch(static_cast<std::size_t>(at(rank).domain));
  Timer* const timers = holds_of(domain);
  timers[domain.holds++] = {end, rank, what};
  std::push_heap(timers, timers + domain.holds);
}

template <class Observer>
void EventEngine<Observer>::end_hold(const Timer& timer) {
  switch (timer.hold) {
    case Hold::kDelay: at(timer.rank).held = false; return begin_delay_or_work(timer.rank);
    case Hold::kNoise: return begin_wait(timer.rank);
    case Hold::kTransfer: return ready_.push_back(timer.rank);
  }
}

template <class Observer>
void EventEngine<Observer>::begin_step(Rank rank) {
  RankState& state = at(rank);
  if (++state.step == model_.steps) return finish(rank);
  observer_.step_begins(rank, state.step, now_);
  if (state.step == starts_of_) starts_[static_cast<std::size_t>(rank)] = now_;
  if (!begun_work_.empty()) begun_work_[static_cast<std::size_t>(rank)].noise = noises_.size() - 1;
  state.delayed ? begin_delay_or_work(rank) : begin_work(rank);
}

template <class Observer>
void EventEngine<Observer>::begin_delay_or_work(Rank rank) {
  RankState& state = at(rank);
  while (const auto delay = state.delayed ? take_delay(rank) : std::nullopt) {
    const bool ordered = delay->command != 0;
    const double seconds = ordered ? charge(rank, delay->seconds) : delay->seconds;
    if (seconds <= 0) continue;
    if (ordered) observer_.held_by(rank, delay->command);
    observer_.enters(rank, state.step, Phase::kDelay, now_);
    state.held = ordered;
    return hold(rank, now_ + seconds, Hold::kDelay);
  }
  begin_work(rank);
}

/// The next one before this step: the program's own, then those that were ordered.
template <class Observer>
auto EventEngine<Observer>::take_delay(Rank rank) -> std::optional<Delay> {
  const std::pair here{rank, at(rank).step};
  if (const auto own = model_.delays.find(here); own != model_.delays.end()) {
    const double seconds = own->second;
    model_.delays.erase(own);
    return Delay{seconds, 0};
  }
  if (const auto ordered = ordered_.find(here); ordered != ordered_.end()) {
    const Delay delay = ordered->second;
    ordered_.erase(ordered);
    return delay;
  }
  const auto has_more = [&](const auto& delays) {
    const auto next = delays.lower_bound(here);
    return next != delays.end() && next->first.first == rank;
  };
  at(rank).delayed = has_more(model_.delays) || has_more(ordered_);
  return std::nullopt;
}

template <class Observer>
void EventEngine<Observer>::begin_work(Rank rank) {
  observer_.enters(rank, at(rank).step, Phase::kCompute, now_);
  if (!begun_work_.empty()) begun_work_[static_cast<std::size_t>(rank)].time = now_;
  Domain& domain = touch(static_cast<std::size_t>(at(rank).domain));
  if (domain.active > 0) join_last(domain);
  slot(domain, domain.active) = {domain.service + 1, rank};
  ++domain.active;
}

/// Takes the domain back to the moment at which the last one began, if that is this moment but for rounding. Otherwise
/// the service of the one that began alone, many times that of the company to come, would make of the rounding of one
/// step many times as much in the next, and ranks that are equal would part.
template <class Observer>
void EventEngine<Observer>::join_last(Domain& domain) {
  const double last = slot(domain, domain.active - 1).target - 1;
  if ((domain.service - last) * seconds_of_work(domain) < kSameMoment * now_) domain.service = last;
}

template <class Observer>
void EventEngine<Observer>::end_work(Rank rank) {
  if (begun_work_.empty()) return begin_wait(rank);
  const Begun& begun = begun_work_[static_cast<std::size_t>(rank)];
  const PhaseNoise* const noise = noises_[begun.noise].get();
  const double idle = noise ? noise->after(rank, at(rank).step, begun.time, now_) : 0;
  if (!(idle > 0)) return begin_wait(rank);
  if constexpr (std::is_same_v<Observer, core::Observed>) {
    const wire::CommandId command = noise->ordered_by(rank, at(rank).step, begun.time, now_);
    if (command != 0) observer_.held_by(rank, command), held_[rank] += idle;
  }
  observer_.enters(rank, at(rank).step, Phase::kNoise, now_);
  hold(rank, now_ + idle, Hold::kNoise);
}

template <class Observer>
void EventEngine<Observer>::begin_wait(Rank rank) {
  observer_.enters(rank, at(rank).step, Phase::kWait, now_);
  post(rank);
}

template <class Observer>
void EventEngine<Observer>::post(Rank rank) {
  ++at(rank).posts;
  if (post_times_) remember_post(rank);
  look_for_partners(rank);
  tell_waiters(rank);
}

template <class Observer>
void EventEngine<Observer>::remember_post(Rank rank) {
  const std::int32_t posts = at(rank).posts;
  std::int32_t oldest = posts;
  const auto look = [&](Rank receiver) {
    const RankState& r = at(receiver);
    oldest = std::min(oldest, r.posts - (r.missing > 0) + 1);
  };
  for (int stage = 0; stage < model_.partners.stages(); ++stage) model_.partners.for_each_waiter(rank, stage, look);
  post_times_->put(rank, posts, oldest, now_);
}

template <class Observer>
void EventEngine<Observer>::look_for_partners(Rank rank) {
  RankState& state = at(rank);
  std::int16_t missing = 0;
  model_.partners.for_each_awaited(rank, state.stage,
                                   [&](Rank partner) { missing += at(partner).posts < state.posts; });
  state.missing = missing;
  if (missing == 0) end_wait(rank, model_.transfer > 0 ? end_of_wait(rank) : now_);
}

template <class Observer>
void EventEngine<Observer>::tell_waiters(Rank rank) {
  const std::int32_t posts = at(rank).posts;
  model_.partners.for_each_waiter(rank, at(rank).stage, [&](Rank waiter) {
    RankState& state = at(waiter);
    if (state.posts == posts && --state.missing == 0) end_wait(waiter, now_ + model_.transfer);
  });
}

/// Of a rank that is the last of its partners to post. Eager: a receive ends at max(own post, sender's post + T).
/// Rendezvous: all ends at max(both posts) + T.
template <class Observer>
double EventEngine<Observer>::end_of_wait(Rank rank) const {
  const RankState& state = at(rank);
  double end = now_;
  model_.partners.for_each_awaited(rank, state.stage, [&](Rank partner) {
    const double posted = model_.rendezvous ? now_ : post_times_->at(partner, state.posts);
    end = std::max(end, posted + model_.transfer);
  });
  return end;
}

template <class Observer>
void EventEngine<Observer>::end_wait(Rank rank, double end) {
  if (end > now_) return hold(rank, end, Hold::kTransfer);
  ready_.push_back(rank);
}

/// A list instead of recursion: with split waits one post may end the waits of ever more ranks at the same moment.
template <class Observer>
void EventEngine<Observer>::go_on() {
  while (!ready_.empty()) {
    const Rank rank = ready_.back();
    ready_.pop_back();
    RankState& state = at(rank);
    if (state.stage + 1 < model_.partners.stages()) {
      ++state.stage;
      post(rank);
    } else {
      state.stage = 0;
      begin_step(rank);
    }
  }
}

template <class Observer>
void EventEngine<Observer>::finish(Rank rank) {
  observer_.enters(rank, model_.steps - 1, Phase::kNone, now_);
  --running_;
}

template <class Observer>
std::uint64_t EventEngine<Observer>::rank_steps() const {
  std::uint64_t sum = 0;
  for (const RankState& state : ranks_) sum += static_cast<std::uint64_t>(std::max(0, state.step));
  return sum;
}

template <class Observer>
void EventEngine<Observer>::add_delay(Rank rank, Step step, double seconds, wire::CommandId command) {
  assert(step > step_of(rank) && step < steps());
  ordered_.insert({{rank, step}, {seconds, command}});
  at(rank).delayed = true;
}

template <class Observer>
std::size_t EventEngine<Observer>::take_back_delays(Rank rank) {
  const auto first = ordered_.lower_bound({rank, 0}), end = ordered_.lower_bound({rank + 1, 0});
  const auto count = static_cast<std::size_t>(std::distance(first, end));
  ordered_.erase(first, end);
  return count + let_go(rank);
}

/// What was told up to now stands, so the hold ends now: as the next thing that happens.
template <class Observer>
bool EventEngine<Observer>::let_go(Rank rank) {
  RankState& state = at(rank);
  if (!state.held) return false;
  state.held = false;
  const Domain& domain = domains_[static_cast<std::size_t>(state.domain)];
  Timer* const timers = holds_of(domain);
  Timer* const timer = std::find_if(timers, timers + domain.holds, [&](const Timer& one) { return one.rank == rank; });
  const double end = std::max(until_, now_);
  held_[rank] -= timer->end - end;
  timer->end = end;
  std::push_heap(timers, timer + 1);
  pending_.set(static_cast<std::size_t>(state.domain), std::min(domain.finish, timers->end));
  return true;
}

/// As much of it as the rank may still be held for.
template <class Observer>
double EventEngine<Observer>::charge(Rank rank, double seconds) {
  double& held = held_[rank];
  const double charged = std::min(seconds, kLongestHold - held);
  held += charged;
  return charged;
}

template <class Observer>
OrderedHolds EventEngine<Observer>::ordered_holds(Rank rank) const {
  const auto begun = held_.find(rank);
  OrderedHolds holds{.begun = begun == held_.end() ? 0 : begun->second};
  const auto end = ordered_.lower_bound({rank + 1, 0});
  for (auto delay = ordered_.lower_bound({rank, 0}); delay != end; ++delay, ++holds.delays)
    if (delay->second.command != 0) holds.waiting += delay->second.seconds;
  return holds;
}

template <class Observer>
void EventEngine<Observer>::set_noise(std::shared_ptr<const PhaseNoise> noise) {
  if (!noise && noises_.empty()) {
    noises_.push_back(nullptr);
    return;
  }
  // Ranks inside a step go on with the noise under which they began it, silence too.
  if (begun_work_.empty()) begun_work_.assign(ranks_.size(), {now_, 0});
  noises_.push_back(std::move(noise));
}

template class EventEngine<core::Unobserved>;
template class EventEngine<core::Observed>;

}  // namespace idlewave::sim::contention
