#include "monitor/analysis/domain_states.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "monitor/analysis/concurrency.h"
#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;
using wire::Step;

constexpr Nanoseconds kLookPeriod = std::chrono::milliseconds(250);
constexpr Nanoseconds kLookBack = std::chrono::seconds(2);
constexpr std::size_t kLeastRounds = 12;
constexpr std::size_t kMostRounds = 64;
constexpr std::size_t kRoundsToDecide = 5;
constexpr int kLooksBeforeTelling = 4;
constexpr std::size_t kChangesKept = 1000;
/// Nothing can change any more by itself after so many of the longest steps.
constexpr int kQuietSteps = 4;
constexpr int kQuietLooks = 8;

/// A rank that is idle in one step for longer than ranks are in three steps of four, by this many typical steps, is inside
/// an idle wave.
constexpr double kWaveWait = 2;

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
/// Work of the slowest rank against the median of all.
constexpr Bounds kSlow{.enter = 1.2, .leave = 1.1};
/// The next one may be slow by this share of that, for there to be one straggler and no imbalance.
constexpr double kNextSlowest = 0.5;

/// A step that all members have been through.
struct Round {
  std::vector<StepRecord> of;  ///< By member.

  Nanoseconds first_begin() const { return std::ranges::min(of, {}, &StepRecord::begin).begin; }
  Nanoseconds last_begin() const { return std::ranges::max(of, {}, &StepRecord::begin).begin; }
  Nanoseconds first_end() const { return std::ranges::min(of, {}, &StepRecord::end).end; }
};

Nanoseconds idle(const StepRecord& record) { return record.wait + record.communicate + record.delay; }

/// The steps of the program that a rank ran at a moment, from that moment back, below step `before`.
class StepsBack {
 public:
  StepsBack(const Lane& lane, Nanoseconds at, Step before = std::numeric_limits<Step>::max())
      : steps_(lane.steps()), left_(lane.steps_begun_before(at + Nanoseconds{1})), before_(before) {}

  /// Nothing before the first that is kept.
  std::optional<StepRecord> next() {
    if (left_ == 0) return std::nullopt;
    const StepRecord record = steps_[left_ - 1];
    // The next program counts anew.
    if (record.step >= before_) return std::nullopt;
    --left_;
    before_ = record.step;
    return record;
  }
  /// Step `step`, if it is among those that are left.
  std::optional<StepRecord> to(Step step) {
    for (auto record = next(); record; record = next())
      if (record->step <= step) return record->step == step ? record : std::nullopt;
    return std::nullopt;
  }

 private:
  timeline::StepRecords steps_;
  std::size_t left_;
  Step before_;
};

/// Of one domain at one moment.
class Rounds {
 public:
  Rounds(const Timeline& timeline, std::span<const Rank> ranks, Nanoseconds at) : at_(at) {
    for (const Rank rank : ranks) {
      const Lane* lane = timeline.lane(rank);
      if (!lane || was_silent(*lane, at) || !has_begun(*lane)) continue;
      lanes_.push_back(lane), members_.push_back(rank);
    }
    common_ = common_step(timeline, members_, at);
    reference_ = latest_begin();
  }

  const std::vector<Rank>& members() const { return members_; }
  std::span<const Lane* const> lanes() const { return lanes_; }
  /// When the first member began the latest step that all have begun; changes with every round.
  Nanoseconds newest() const { return reference_; }

  /// Newest first: complete on all members.
  std::vector<Round> collect() const {
    std::vector<Round> rounds;
    if (members_.empty() || common_ == wire::kNoStep) return rounds;
    std::vector<StepsBack> members;
    for (const Lane* lane : lanes_) members.emplace_back(*lane, at_);
    StepsBack first(*lanes_.front(), reference_ - Nanoseconds{1}, common_);
    while (rounds.size() < kMostRounds) {
      const auto each = first.next();
      if (!each || (rounds.size() >= kLeastRounds && each->begin < at_ - kLookBack)) break;
      auto round = round_of(each->step, members);
      if (!round) break;
      rounds.push_back(std::move(*round));
    }
    return rounds;
  }

 private:
  bool has_begun(const Lane& lane) const { return lane.steps_begun_before(at_) > 0; }
  Nanoseconds latest_begin() const {
    if (members_.empty() || common_ == wire::kNoStep) return Nanoseconds::min();
    const auto record = lanes_.front()->step(common_, at_);
    return record ? record->begin : Nanoseconds::min();
  }
  std::optional<Round> round_of(Step step, std::span<StepsBack> members) const {
    Round round;
    round.of.reserve(members.size());
    for (StepsBack& member : members) {
      const auto record = member.to(step);
      if (!record || record->end <= record->begin || record->end > at_) return std::nullopt;
      round.of.push_back(*record);
    }
    return round;
  }

  Nanoseconds at_;
  std::vector<const Lane*> lanes_;
  std::vector<Rank> members_;
  Step common_ = wire::kNoStep;
  Nanoseconds reference_{};
};

template <class Figure>
std::vector<Nanoseconds> figures(std::span<const Round> rounds, Figure figure) {
  std::vector<Nanoseconds> all;
  for (const Round& round : rounds)
    for (const StepRecord& record : round.of) all.push_back(figure(record));
  return all;
}

Nanoseconds longest_idle(std::span<const Round> rounds, Nanoseconds typical_step) {
  std::vector<Nanoseconds> all = figures(rounds, idle);
  if (all.empty()) return Nanoseconds{0};
  const auto three_quarters = all.begin() + std::ptrdiff_t(all.size() * 3 / 4);
  std::ranges::nth_element(all, three_quarters);
  return *three_quarters + Nanoseconds(std::llround(kWaveWait * double(typical_step.count())));
}

bool holds_wave(const Round& round, Nanoseconds longest) {
  return std::ranges::any_of(round.of, [&](const StepRecord& record) { return idle(record) > longest; });
}

/// Those that no idle wave is in, newest first as `rounds`.
std::span<const Round> behind_wave(std::span<const Round> rounds, Nanoseconds longest) {
  const auto wave = std::ranges::find_if(rounds, [&](const Round& round) { return holds_wave(round, longest); });
  return rounds.first(std::size_t(wave - rounds.begin()));
}

bool waits_in_wave(const Lane& lane, Nanoseconds longest, Nanoseconds at) {
  const std::size_t begun = lane.steps_begun_before(at);
  if (begun == 0 || at - lane.steps()[begun - 1].begin <= longest) return false;
  return idle_in_step(lane, at) > longest;
}

/// What tells how ranks stand to each other.
struct Signs {
  double spread = 0;    ///< Median over the steps between the first begin and the last, in steps.
  double active = 0;    ///< Mean number at work.
  double relieved = 0;  ///< See kRelieved; 0 where ranks do not share what the domain gives.
  Rank slowest = -1;
  double slowness = 1;  ///< Of the slowest: its work against the median of all, median over the steps.
  double next_slowness = 1;
};

double spread_of(std::span<const Round> rounds, Nanoseconds typical) {
  std::vector<double> spreads;
  for (const Round& round : rounds)
    spreads.push_back(double((round.last_begin() - round.first_begin()).count()) / double(typical.count()));
  return median(std::move(spreads));
}

/// The work of each member in each round: how long it took, and would have taken alone.
class Work {
 public:
  Work(std::span<const Round> rounds, const Bandwidth& bandwidth)
      : rounds_(rounds), spans_(spans_of(rounds)), concurrency_(spans_, bandwidth) {
    for (const Window& span : spans_) took_.push_back(double(span.length().count()));
  }

  const Concurrency& concurrency() const { return concurrency_; }
  /// Ranks took longer where more of them were at work, and not otherwise: by the work inside `window`.
  bool is_shared(Window window) const {
    std::vector<double> took, alone;
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      if (spans_[i].from < window.from || spans_[i].to > window.to) continue;
      took.push_back(took_[i]), alone.push_back(concurrency_.alone()[i]);
    }
    return !took.empty() && variation(alone) <= std::max(variation(took), kSteady);
  }

  /// By member: how much longer than the median member it works, by whichever measure says less.
  std::vector<double> slowness() const {
    std::vector<double> took = relative(took_), alone = relative(concurrency_.alone()), slowness;
    for (std::size_t first = 0; first < took.size(); first += rounds_.size())
      slowness.push_back(std::min(median(std::span(took).subspan(first, rounds_.size())),
                                  median(std::span(alone).subspan(first, rounds_.size()))));
    return slowness;
  }

 private:
  /// Times that vary by less than this share of themselves tell nothing.
  static constexpr double kSteady = 0.02;

  static std::vector<Window> spans_of(std::span<const Round> rounds) {
    std::vector<Window> spans;
    for (const Round& round : rounds) {
      for (const StepRecord& record : round.of) {
        const Nanoseconds post = record.end - record.wait - record.communicate;
        spans.push_back(
            work_of({.begin = record.begin, .post = post, .end = record.end, .held = record.delay, .over = true}));
      }
    }
    return spans;
  }
  /// Against the median of its round, member by member.
  std::vector<double> relative(const std::vector<double>& work) const {
    const std::size_t members = rounds_.front().of.size(), rounds = rounds_.size();
    std::vector<double> ratios(work.size()), row;
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::span its = std::span(work).subspan(round * members, members);
      row.assign(its.begin(), its.end());
      const double middle = median(std::span(row));
      for (std::size_t member = 0; member < members; ++member)
        ratios[member * rounds + round] = middle > 0 ? its[member] / middle : 1;
    }
    return ratios;
  }

  std::span<const Round> rounds_;
  std::vector<Window> spans_;  ///< Round by round, in each member by member; as the two below.
  Concurrency concurrency_;
  std::vector<double> took_;
};

/// While all members are inside these rounds.
Window whole_window(std::span<const Round> rounds) { return {rounds.back().last_begin(), rounds.front().first_end()}; }

/// Mean over rounds of what remains of waiting for the member that waits least: time that lockstep would take as well.
double least_wait(std::span<const Round> rounds) {
  double sum = 0;
  for (const Round& round : rounds) {
    Nanoseconds least = Nanoseconds::max();
    for (const StepRecord& record : round.of) least = std::min(least, record.wait + record.communicate);
    sum += double(least.count());
  }
  return sum / double(rounds.size());
}

/// How far work is relieved of contention: all that the domain moved in `window` would have taken its `members` longer in
/// lockstep, all at work at the same time. With no more than `saturation` at work at a time the shorter time is
/// saturation / members of that.
double relief(const Concurrency& concurrency, const Bandwidth& bandwidth, double members, double saturation,
              Window window, double steps, double wait) {
  const Progress progress = concurrency.within(window);
  const double in_lockstep = progress.volume / (bandwidth(int(members)) * 1e-9);
  if (in_lockstep <= 0) return 0;
  const double active = progress.rank_time / double(window.length().count());
  if (active >= members * in_lockstep / (in_lockstep + steps * wait)) return 0;
  return (1 - progress.rank_time / members / in_lockstep) / (1 - saturation / members);
}

Signs signs_of(std::span<const Round> rounds, const Rounds& of, const wire::DomainInfo& info, Nanoseconds typical) {
  Signs signs{.spread = spread_of(rounds, typical)};
  const Bandwidth bandwidth = bandwidth_of(info);
  const Work work(rounds, bandwidth);
  const auto members = of.members().size();
  const Window window = whole_window(rounds);
  if (window.length() > Nanoseconds{0}) {
    signs.active = work.concurrency().within(window).rank_time / double(window.length().count());
    const double saturation = saturation_point(info), steps = double(window.length() / typical);
    if (bandwidth && saturation > 0 && double(members) > saturation && work.is_shared(window))
      signs.relieved =
          relief(work.concurrency(), bandwidth, double(members), saturation, window, steps, least_wait(rounds));
  }
  const std::vector<double> all = members > 2 ? work.slowness() : std::vector<double>();
  for (std::size_t member = 0; member < all.size(); ++member) {
    const double slowness = all[member];
    if (slowness > signs.slowness) {
      signs.next_slowness = std::exchange(signs.slowness, slowness);
      signs.slowest = of.members()[member];
    } else {
      signs.next_slowness = std::max(signs.next_slowness, slowness);
    }
  }
  return signs;
}

bool has_straggler(const Signs& signs, const StateChange& before) {
  const bool inside = before.state == DomainState::kStraggler && before.straggler == signs.slowest;
  return signs.slowness > kSlow.for_one_who_is(inside) && signs.next_slowness - 1 < kNextSlowest * (signs.slowness - 1);
}

bool is_in_lockstep(const Signs& signs, DomainState before) {
  switch (before) {
    case DomainState::kLockstep: return signs.spread <= kOutOfLockstep.enter;
    case DomainState::kSkewed:
    case DomainState::kComputational: return signs.spread < kOutOfLockstep.leave;
    default: return signs.spread < kOutOfLockstepAtFirst;
  }
}

StateChange judged(const Signs& signs, const StateChange& before, Nanoseconds at) {
  StateChange now{.at = at, .active = signs.active};
  if (has_straggler(signs, before)) {
    now.state = DomainState::kStraggler;
    now.straggler = signs.slowest;
  } else if (signs.relieved > kRelieved.for_one_who_is(before.state == DomainState::kComputational)) {
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
    return !lane || was_silent(*lane, at);
  });
}

/// The first moment of look at which something may be seen that happens at `from` or later; max() if nothing does.
Nanoseconds next_happening(const Timeline& timeline, Nanoseconds from) {
  Nanoseconds next = Nanoseconds::max();
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (!lane || lane->state() == timeline::LaneState::kAnnounced || lane->last() < from) continue;
    const auto steps = lane->steps();
    const std::size_t begun = lane->steps_begun_before(from);
    next = std::min(next, begun == steps.size() ? lane->last() : std::min(steps[begun].begin, lane->last()));
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
                        before.state == DomainState::kDisturbed;
  story.looks = is_same(change, before) ? 0 : is_same(change, story.candidate) ? story.looks + 1 : 1;
  story.candidate = change;
  if (is_first || story.looks >= kLooksBeforeTelling) become(story, change);
}

/// True if anything has happened since the last look.
bool DomainStates::look_at(const Timeline& timeline, int domain, Story& story, Nanoseconds at) {
  const timeline::Domain& of = timeline.domains()[std::size_t(domain)];
  if (are_all_silent(timeline, of.ranks, at)) return become(story, {.at = at, .state = DomainState::kNotActive});
  const Rounds rounds(timeline, of.ranks, at);
  const bool is_new = rounds.newest() != story.newest;
  const std::vector<Round> latest = is_new ? rounds.collect() : std::vector<Round>();
  if (is_new) {
    story.newest = rounds.newest();
    story.typical_step = median(figures(latest, [](const StepRecord& record) { return record.end - record.begin; }));
    story.longest_idle = longest_idle(latest, story.typical_step);
  }
  if (story.typical_step <= Nanoseconds{0}) return is_new;
  const std::span<const Round> clean = behind_wave(latest, story.longest_idle);
  const bool waits = std::ranges::any_of(
      rounds.lanes(), [&](const Lane* lane) { return waits_in_wave(*lane, story.longest_idle, at); });
  if (waits || (clean.size() < latest.size() && clean.size() < kRoundsToDecide))
    return become(story, {.at = at, .state = DomainState::kDisturbed}) || is_new;
  if (clean.size() >= kRoundsToDecide)
    weigh(story, judged(signs_of(clean, rounds, of.info, story.typical_step), story.last(), at));
  return is_new;
}

bool DomainStates::look(const Timeline& timeline, Nanoseconds at) {
  stories_.resize(timeline.domains().size());
  bool happened = false;
  for (std::size_t domain = 0; domain < stories_.size(); ++domain)
    happened |= look_at(timeline, int(domain), stories_[domain], at);
  return happened;
}

Nanoseconds DomainStates::longest_step() const {
  Nanoseconds longest{};
  for (const Story& story : stories_) longest = std::max(longest, story.typical_step);
  return longest;
}

void DomainStates::follow(const Timeline& timeline) {
  if (timeline.empty()) return;
  const Nanoseconds now = timeline.now();
  while (next_ <= now) {
    if (look(timeline, next_)) lively_ = next_;
    // What a recording says of its own length may be years in which nothing happens.
    const bool is_quiet = next_ - lively_ > kQuietSteps * longest_step() + kQuietLooks * kLookPeriod;
    const Nanoseconds next = is_quiet ? std::min(next_happening(timeline, next_), now) : next_;
    next_ = std::max(next / kLookPeriod, next_ / kLookPeriod) * kLookPeriod + kLookPeriod;
  }
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

}  // namespace idlewave::analysis
