#include "monitor/analysis/steps/common_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "monitor/analysis/plural.h"
#include "monitor/analysis/steps/step_course.h"

namespace idlewave::analysis::steps {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;
using wire::Event;
using wire::EventKind;
using wire::Phase;

struct NumberedStep {
  Step number = wire::kNoStep;
  RankStep times;
  /// It has ended, and nothing of it was lost.
  bool known = false;
  bool waits = false;

  bool whole() const { return known && waits && times.held <= times.end - times.begin; }
};

bool waits(Phase phase) { return phase == Phase::kWait || phase == Phase::kCommunicate; }

/// What a lane's record of a step does not hold: goes through the events that are kept.
class LaneReader {
 public:
  LaneReader(const Lane& lane, Window window)
      : lane_(lane),
        window_(window),
        records_(lane.steps()),
        next_(records_.begin() + std::ptrdiff_t(lane.steps_begun_before(window.from))) {
    const Nanoseconds from = std::max(lane.events_from(), window.from);
    const Nanoseconds to = std::min(lane.last() + Nanoseconds{1}, window.to);
    lane.for_each_event(from, to, [this](const Event& event) { take(event); });
  }

  /// By number; of one that was begun twice the later.
  std::vector<NumberedStep> steps() && {
    std::ranges::stable_sort(steps_, {}, &NumberedStep::number);
    const auto later =
        std::unique(steps_.rbegin(), steps_.rend(), [](const auto& a, const auto& b) { return a.number == b.number; });
    steps_.erase(steps_.begin(), later.base());
    return std::move(steps_);
  }

 private:
  void take(const Event& event) {
    if (event.kind == EventKind::kStep) begin_step(event);
    if (event.kind == EventKind::kDelayBegin) begin_hold(event.time, event.phase != Phase::kDelay);
    if (event.kind == EventKind::kDelayEnd && held_since_) end_hold(event.time);
    if (event.kind == EventKind::kTraffic && in_step_) steps_.back().times.traffic += event.value;
    // A hold comes on top of the phase that goes on: who waited before it waits on behind it.
    if (wire::changes_phase(event.kind) && event.kind != EventKind::kDelayBegin) enter(event.phase, event.time);
  }

  /// Every step that began with an event has a record, unless there was no room for it any more.
  void begin_step(const Event& event) {
    const auto is_this = [&](const StepRecord& record) {
      return record.begin == event.time && record.step == Step(event.value);
    };
    next_ = std::ranges::find_if(next_, records_.end(), is_this);
    in_step_ = next_ != records_.end();
    if (!in_step_) return void(next_ = records_.begin());
    const StepRecord record = *next_++;
    steps_.push_back({.number = record.step,
                      .times = {.begin = record.begin, .end = record.end},
                      .known = record.end > record.begin && record.end <= window_.to && is_known(lane_, record)});
  }
  void begin_hold(Nanoseconds time, bool by_noise) {
    if (held_since_) end_hold(time);
    held_since_ = time, held_by_noise_ = by_noise;
  }
  void end_hold(Nanoseconds time) {
    const Nanoseconds held = in_step_ ? time - std::max(*held_since_, steps_.back().times.begin) : Nanoseconds{0};
    // While it waits for others noise holds up nobody but the end of the wait.
    if (in_step_ && !held_by_noise_) steps_.back().times.held += held;
    if (in_step_ && held_by_noise_ && !steps_.back().waits) steps_.back().times.noise += held;
    held_since_.reset();
  }
  void enter(Phase phase, Nanoseconds time) {
    // A program that holds itself says so by the phase alone.
    if (phase == Phase::kDelay && phase_ != phase) begin_hold(time, false);
    if (phase != Phase::kDelay && phase_ == Phase::kDelay && held_since_) end_hold(time);
    if (waits(phase) && !waits(phase_) && in_step_) post(steps_.back(), time);
    phase_ = phase;
  }
  void post(NumberedStep& step, Nanoseconds time) {
    if (step.waits) return;
    step.times.post = time;
    step.waits = true;
  }

  const Lane& lane_;
  const Window window_;
  const timeline::StepRecords records_;
  timeline::StepRecords::iterator next_;
  std::vector<NumberedStep> steps_;
  Phase phase_ = Phase::kNone;
  bool in_step_ = false;
  std::optional<Nanoseconds> held_since_;
  bool held_by_noise_ = false;
};

using StepsOfRanks = std::vector<std::vector<NumberedStep>>;

wire::Result<StepsOfRanks> read_all(const Timeline& timeline, Window window) {
  StepsOfRanks ranks;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (lane != nullptr && lane->events() > 0) ranks.push_back(LaneReader(*lane, window).steps());
  }
  if (!ranks.empty() && Rank(ranks.size()) == timeline.ranks()) return ranks;
  return wire::Error{
      fmt::format("{} of {} ranks are in the recording; all are needed", ranks.size(), timeline.ranks())};
}

/// What the ranks say of one number.
struct Found {
  /// On so many ranks.
  std::size_t whole = 0;
  /// On some rank it begins before the step before has ended.
  bool goes_back = false;
};

std::map<Step, Found> numbers_in(const StepsOfRanks& ranks) {
  std::map<Step, Found> found;
  for (const auto& steps : ranks) {
    const NumberedStep* before = nullptr;
    for (const NumberedStep& step : steps) {
      Found& number = found[step.number];
      number.whole += step.whole();
      number.goes_back |= before != nullptr && step.times.begin < before->times.end;
      before = &step;
    }
  }
  return found;
}

/// Programs number their steps as they like: what follows a step is the next number that any rank has, and only where
/// one of them is not whole somewhere, or goes back, the run breaks.
std::vector<Step> longest_run(const std::map<Step, Found>& found, std::size_t ranks) {
  std::vector<Step> run, longest;
  const auto end_run = [&] {
    if (run.size() > longest.size()) longest.swap(run);
    run.clear();
  };
  for (const auto& [number, step] : found) {
    if (step.goes_back || step.whole != ranks) end_run();
    if (step.whole == ranks) run.push_back(number);
  }
  end_run();
  return longest;
}

std::vector<RankStep> taken(const std::vector<NumberedStep>& steps, const std::vector<Step>& numbers) {
  std::vector<RankStep> times;
  auto step = std::ranges::lower_bound(steps, numbers.front(), {}, &NumberedStep::number);
  for (std::size_t i = 0; i < numbers.size(); ++i, ++step) times.push_back(step->times);
  return times;
}

}  // namespace

Nanoseconds CommonSteps::begin() const {
  Nanoseconds first = Nanoseconds::max();
  for (const auto& steps : ranks) first = std::min(first, steps.front().begin);
  return first;
}

Nanoseconds CommonSteps::end() const {
  Nanoseconds last = Nanoseconds::min();
  for (const auto& steps : ranks) last = std::max(last, steps.back().end);
  return last;
}

Window CommonSteps::all_of(std::size_t first, std::size_t last) const {
  Window window{begin(), end()};
  for (std::size_t rank = first; rank < last; ++rank) {
    if (has_earlier[rank]) window.from = std::max(window.from, ranks[rank].front().begin);
    if (has_later[rank]) window.to = std::min(window.to, ranks[rank].back().end);
  }
  return window;
}

wire::Result<CommonSteps> common_steps(const Timeline& timeline) {
  return common_steps(timeline, {Nanoseconds::min() / 2, Nanoseconds::max() / 2});
}

wire::Result<CommonSteps> common_steps(const Timeline& timeline, Window window) {
  const auto ranks = read_all(timeline, window);
  if (!ranks) return ranks.error();
  const std::map<Step, Found> found = numbers_in(*ranks);
  CommonSteps common{.numbers = longest_run(found, ranks->size()),
                     .ranks = {},
                     .has_earlier = {},
                     .has_later = {},
                     .known = found.size()};
  if (found.empty()) return wire::Error{"none of its ranks has told a step that is over"};
  if (common.steps() < 2)
    return wire::Error{fmt::format("of {} there are no two in a row that are whole on all {} ranks",
                                   plural(found.size(), "step"), ranks->size())};
  for (const auto& steps : *ranks) {
    common.ranks.push_back(taken(steps, common.numbers));
    const Lane& lane = *timeline.lane(Rank(common.ranks.size()) - 1);
    const std::size_t earlier = lane.steps_begun_before(common.ranks.back().front().begin);
    common.has_earlier.push_back(earlier > 0);
    common.has_later.push_back(lane.steps().size() > earlier + common.steps());
  }
  return common;
}

}  // namespace idlewave::analysis::steps
