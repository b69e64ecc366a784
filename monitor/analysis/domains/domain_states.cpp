#include "monitor/analysis/domains/domain_states.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::domains {
namespace {

using timeline::Lane;
using timeline::Timeline;

constexpr Nanoseconds kLookPeriod = std::chrono::milliseconds(250);
constexpr std::size_t kRoundsToDecide = 5;
constexpr int kLooksBeforeTelling = 4;
constexpr std::size_t kChangesKept = 1000;
/// Nothing can change any more by itself after so many of the longest steps.
constexpr int kQuietSteps = 4;
constexpr int kQuietLooks = 8;
/// Of the longest steps, where nothing happens in them: a step of a year would be looked at for as long.
constexpr int kLooksInStep = 64;

/// A rank that is idle in one step for longer than ranks are in three steps of four, by two typical steps, is inside an
/// idle wave.
constexpr double kOrdinaryIdle = 0.75;
constexpr double kWaveWait = 2;
/// A rank that is idle for so long at this share of the latest looks is so by noise: a wave makes it idle for this many
/// times as long.
constexpr double kOften = 0.5;
constexpr double kBeyondNoise = 2;
constexpr int kLooksRemembered = 16;
/// As if that many had been usual before the first.
constexpr int kLooksBefore = 2;

/// What a sign has to reach for a word to be said, and where it has to fall to for it to be taken back.
struct Bounds {
  double enter = 0;
  double leave = 0;
  double for_one_who_is(bool inside) const { return inside ? leave : enter; }
};
/// Spread of the begins of a step, in steps: beyond it ranks are out of lockstep.
constexpr Bounds kOutOfLockstep{.enter = 0.35, .leave = 0.15};
constexpr double kOutOfLockstepAtFirst = 0.25;
/// Way from the contention of lockstep, 0, to that of no more ranks than saturate the domain, 1.
constexpr Bounds kRelieved{.enter = 0.5, .leave = 0.25};
/// Variation of work's time alone against that of its time. In a wave that has settled all work lasts about as long, and
/// how late ranks are to say that it ended is then most of what varies in both.
constexpr Bounds kUnshared{.enter = 1, .leave = 1.2};
/// Work of the slowest rank against the median of all.
constexpr Bounds kSlow{.enter = 1.2, .leave = 1.1};
/// The next one may be slow by this share of that, for there to be one straggler and no imbalance.
constexpr double kNextSlowest = 0.5;
constexpr LeastSigns kLeastSigns{.relieved = kRelieved.leave, .slowness = kSlow.leave};

/// Of all steps of the rounds, the one at this share of them. More than none.
template <class Figure>
Nanoseconds quantile(const Rounds& rounds, double share, Figure figure, std::vector<Nanoseconds>& room) {
  room.clear();
  for (std::size_t i = 0; i < rounds.size(); ++i)
    for (const MemberStep& step : rounds.of(i)) room.push_back(figure(step));
  const auto place = room.begin() + std::ptrdiff_t(share * double(room.size()));
  std::ranges::nth_element(room, place);
  return *place;
}

/// How many come behind the last that an idle wave is in.
std::size_t behind_wave(const Rounds& rounds, Nanoseconds longest) {
  std::size_t clean = 0;
  while (clean < rounds.size() && rounds[clean].most_idle <= longest) ++clean;
  return clean;
}

bool waits_in_wave(const Members& members, Nanoseconds longest, Nanoseconds at) {
  for (std::size_t i = 0; i < members.lanes.size(); ++i)
    if (at - members.since[i] > longest && steps::idle_in_step(*members.lanes[i], at) > longest) return true;
  return false;
}

bool has_straggler(const Signs& signs, std::span<const Rank> members, const StateChange& before) {
  if (signs.slowest < 0) return false;
  const bool inside =
      before.state == DomainState::kStraggler && before.straggler == members[std::size_t(signs.slowest)];
  return signs.slowness > kSlow.for_one_who_is(inside) && signs.next_slowness - 1 < kNextSlowest * (signs.slowness - 1);
}

bool is_in_wave(const Signs& signs, DomainState before) {
  const bool inside = before == DomainState::kComputational;
  return signs.relieved > kRelieved.for_one_who_is(inside) && signs.unshared <= kUnshared.for_one_who_is(inside);
}

bool is_in_lockstep(const Signs& signs, DomainState before) {
  switch (before) {
    case DomainState::kLockstep: return signs.spread <= kOutOfLockstep.enter;
    case DomainState::kSkewed:
    case DomainState::kComputational: return signs.spread < kOutOfLockstep.leave;
    case DomainState::kUnknown:
    case DomainState::kNotActive:
    case DomainState::kStraggler:
    case DomainState::kDisturbed:
    case DomainState::kBereft:
    case DomainState::kAlone:
    case DomainState::kStepsDiffer: break;
  }
  return signs.spread < kOutOfLockstepAtFirst;
}

StateChange judged(const Signs& signs, std::span<const Rank> members, const StateChange& before, Nanoseconds at) {
  StateChange now{.at = at, .active = signs.active};
  if (members.size() == 1) {
    now.state = DomainState::kAlone;
  } else if (has_straggler(signs, members, before)) {
    now.state = DomainState::kStraggler;
    now.straggler = members[std::size_t(signs.slowest)];
  } else if (is_in_wave(signs, before.state)) {
    now.state = DomainState::kComputational;
  } else {
    now.state = is_in_lockstep(signs, before.state) ? DomainState::kLockstep : DomainState::kSkewed;
  }
  return now;
}

bool is_same(const StateChange& a, const StateChange& b) { return a.state == b.state && a.straggler == b.straggler; }

bool are_all_silent(const Timeline& timeline, std::span<const Rank> ranks, Nanoseconds at) {
  return std::ranges::all_of(ranks, [&](Rank rank) {
    const Lane* lane = timeline.lane(rank);
    return !lane || steps::was_silent(*lane, at);
  });
}

/// Those that have not come back, unlike find_lost_ranks().
bool has_lost_ranks(const Timeline& timeline, Nanoseconds at) {
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (lane && lane->state() == timeline::LaneState::kLost && lane->last() <= at) return true;
  }
  return false;
}

/// The first moment of look at which something may be seen that happens at `time`.
Nanoseconds moment_after(Nanoseconds time) { return (time / kLookPeriod + 1) * kLookPeriod; }

/// When a rank first begins a step or ends, at `from` or later; max() if none does.
Nanoseconds next_happening(const Timeline& timeline, Nanoseconds from) {
  Nanoseconds next = Nanoseconds::max();
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (!lane || lane->state() == timeline::LaneState::kAnnounced || lane->last() < from) continue;
    const auto steps = lane->steps();
    const std::size_t begun = lane->steps_begun_before(from);
    if (begun < steps.size())
      next = std::min(next, steps[begun].begin);
    else if (steps::was_silent(*lane, lane->last()))
      next = std::min(next, lane->last());
  }
  return next;
}

}  // namespace

std::string to_words(DomainState state) {
  switch (state) {
    case DomainState::kUnknown: return "too early to say";
    case DomainState::kNotActive: return "not active";
    case DomainState::kLockstep: return "lockstep";
    case DomainState::kSkewed: return "skewed by noise";
    case DomainState::kComputational: return "computational wave";
    case DomainState::kStraggler: return "straggler";
    case DomainState::kDisturbed: return "idle wave inside";
    case DomainState::kBereft: return "waits, ranks are lost";
    case DomainState::kAlone: return "one rank alone";
    case DomainState::kStepsDiffer: return "steps differ";
  }
  return {};
}

bool DomainStates::become(Story& story, StateChange change) {
  story.looks = 0;
  if (is_same(change, story.last())) return false;
  story.changes.push_back(change);
  if (story.changes.size() > 2 * kChangesKept)
    story.changes.erase(story.changes.begin(), story.changes.end() - std::ptrdiff_t(kChangesKept));
  return true;
}

/// What is known of a domain already is not given up for one look.
void DomainStates::weigh(Story& story, StateChange change) {
  const StateChange before = story.last();
  const bool is_first = before.state == DomainState::kUnknown || before.state == DomainState::kNotActive ||
                        before.state == DomainState::kDisturbed || before.state == DomainState::kBereft;
  story.looks = is_same(change, before) ? 0 : is_same(change, story.candidate) ? story.looks + 1 : 1;
  story.candidate = change;
  if (is_first || story.looks >= kLooksBeforeTelling) become(story, change);
}

/// Reads what is new of the domain's rounds, and what they say of an idle wave.
void DomainStates::read(Story& story, Nanoseconds at) {
  story.newest = members_.newest;
  story.rounds.read(members_, at, rounds_room_);
  story.typical_step = story.longest_idle = Nanoseconds{0};
  if (story.rounds.size() == 0) return;
  const auto length = [](const MemberStep& step) { return step.length; };
  story.typical_step = quantile(story.rounds, 0.5, length, times_room_);
  const Nanoseconds ordinary = quantile(story.rounds, kOrdinaryIdle, std::mem_fn(&MemberStep::idle), times_room_) +
                               Nanoseconds(std::llround(kWaveWait * double(story.typical_step.count())));
  const Nanoseconds beyond_noise =
      std::max(ordinary, Nanoseconds(std::llround(kBeyondNoise * double(story.often_idle.count()))));
  story.longest_idle = story.often > kOften ? beyond_noise : ordinary;
  count_unusual(story, ordinary, beyond_noise);
}

/// Only looks between which any wave had time to pass: one that is seen at several is not often.
void DomainStates::count_unusual(Story& story, Nanoseconds ordinary, Nanoseconds beyond_noise) {
  const auto steps = std::int64_t(story.rounds.members() + Rounds::kMost);
  if (story.newest - story.counted < steps * story.typical_step) return;
  story.counted = story.newest;
  story.counted_looks = std::min(story.counted_looks + 1, kLooksRemembered - kLooksBefore);
  Nanoseconds most{};
  for (std::size_t i = 0; i < story.rounds.size(); ++i) most = std::max(most, story.rounds[i].most_idle);
  const bool unusual = most > ordinary;
  story.often += ((unusual ? 1 : 0) - story.often) / (kLooksBefore + story.counted_looks);
  // What is called a wave is no noise; but where it is so at look after look noise has grown. That is learned before it is
  // known to be so often.
  const Nanoseconds by_noise = unusual ? std::min(most, beyond_noise) : Nanoseconds{0};
  story.often_idle = std::max(by_noise, story.often_idle * (kLooksRemembered - 1) / kLooksRemembered);
}

/// True if anything has happened since the last look.
bool DomainStates::look_at(const Timeline& timeline, int domain, Story& story, Nanoseconds at) {
  const timeline::Domain& of = timeline.domains()[std::size_t(domain)];
  if (are_all_silent(timeline, of.ranks, at)) return become(story, {.at = at, .state = DomainState::kNotActive});
  members_.find(timeline, of.ranks, at);
  const bool is_new = members_.newest != story.newest;
  if (is_new) read(story, at);
  if (story.typical_step <= Nanoseconds{0}) return is_new;
  const std::size_t looked_at = is_new ? story.rounds.size() : 0;
  const std::size_t clean = is_new ? behind_wave(story.rounds, story.longest_idle) : 0;
  const bool waits = waits_in_wave(members_, story.longest_idle, at);
  if (waits && has_lost_ranks(timeline, at)) return become(story, {.at = at, .state = DomainState::kBereft}) || is_new;
  if (waits || (clean < looked_at && clean < kRoundsToDecide))
    return become(story, {.at = at, .state = DomainState::kDisturbed}) || is_new;
  if (clean >= kRoundsToDecide) {
    const Signs signs = find_signs({story.rounds, clean}, of.info, story.typical_step, kLeastSigns, signs_room_);
    weigh(story, judged(signs, members_.ranks, story.last(), at));
  }
  return is_new;
}

bool DomainStates::look(const Timeline& timeline, Nanoseconds at) {
  stories_.resize(timeline.domains().size());
  bool happened = false;
  for (std::size_t domain = 0; domain < stories_.size(); ++domain)
    happened |= look_at(timeline, int(domain), stories_[domain], at);
  if (timeline.ranks() > most_remembered_)
    for (Story& story : stories_) story.rounds.forget();
  return happened;
}

Nanoseconds DomainStates::longest_step() const {
  Nanoseconds longest{};
  for (const Story& story : stories_) longest = std::max(longest, story.typical_step);
  return longest;
}

/// What a recording says of its own length may be years in which nothing happens.
bool DomainStates::is_quiet() const {
  return looked_ - lively_ > kQuietSteps * longest_step() + kQuietLooks * kLookPeriod;
}

/// A multiple of the period, so that looks stay at its moments.
Nanoseconds DomainStates::pause() const {
  return std::max(kLookPeriod, longest_step() / kLooksInStep / kLookPeriod * kLookPeriod);
}

bool goes_by_steps(DomainState state) {
  return state != DomainState::kUnknown && state != DomainState::kNotActive && state != DomainState::kAlone;
}

void DomainStates::follow(const Timeline& timeline) {
  if (timeline.empty()) return;
  const Nanoseconds now = timeline.now();
  while (next_ <= now) {
    if (next_ >= due_ || next_happening(timeline, looked_) < next_) look_all(timeline);
    next_ = next_moment(timeline, now);
  }
}

void DomainStates::look_all(const Timeline& timeline) {
  if (look(timeline, next_)) lively_ = next_;
  looked_ = next_;
  due_ = is_quiet() ? looked_ : looked_ + pause();
  ++looks_;
}

/// What is not known yet may happen from `now` on.
Nanoseconds DomainStates::next_moment(const Timeline& timeline, Nanoseconds now) const {
  if (due_ == looked_ + kLookPeriod) return due_;
  const Nanoseconds until = due_ == looked_ ? now : std::min(due_ - Nanoseconds{1}, now);
  return moment_after(std::min(next_happening(timeline, looked_), until));
}

const StateChange* DomainStates::at(int domain, Nanoseconds time) const {
  const std::span<const StateChange> all = changes(domain);
  const auto after = std::ranges::upper_bound(all, time, {}, &StateChange::at);
  return after == all.begin() ? nullptr : &*std::prev(after);
}

std::span<const StateChange> DomainStates::changes(int domain) const {
  if (std::size_t(domain) >= stories_.size()) return {};
  return stories_[std::size_t(domain)].changes;
}

}  // namespace idlewave::analysis::domains
