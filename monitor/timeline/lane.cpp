#include "monitor/timeline/lane.h"

#include <algorithm>
#include <cmath>

namespace idlewave::timeline {
namespace {

using wire::EventKind;
using wire::Phase;

/// Time of a step that a basic phase counts as; null for what a step has no figure for.
Nanoseconds* part_of(StepRecord& step, Phase basic) {
  switch (basic) {
    case Phase::kCompute: return &step.compute;
    case Phase::kWait: return &step.wait;
    case Phase::kCommunicate: return &step.communicate;
    case Phase::kDelay:
    case Phase::kNoise: return &step.delay;
    default: return nullptr;
  }
}

}  // namespace

Nanoseconds Lane::first() const { return clock_->session_time(first_); }
Nanoseconds Lane::last() const { return clock_->session_time(last_); }
Nanoseconds Lane::known_until() const { return clock_->session_time(known_until_in_lane_time()); }

Nanoseconds Lane::known_until_in_lane_time() const {
  if (state_ != LaneState::kLive || !clock_->told) return last_;
  return std::max(last_, std::min(clock_->up_to, known_limit()));
}

Nanoseconds Lane::events_from() const {
  return has_events_kept() ? clock_->session_time(history_->events.from()) : known_until();
}

StepRecords Lane::steps() const {
  static const Ring<StepRecord> none;
  return {history_ ? history_->steps : none, *clock_};
}

std::size_t Lane::steps_begun_before(Nanoseconds at) const {
  if (!history_) return 0;
  const auto& all = history_->steps;
  const Nanoseconds time = clock_->lane_time(at);
  if (all.empty() || time <= all.front().begin) return 0;
  if (all.back().begin < time) return all.size();
  // From where it would be among equal steps, by strides that double, and then by halves.
  std::size_t before = 0, after = all.size() - 1;
  const double share =
      double((time - all.front().begin).count()) / double((all.back().begin - all.front().begin).count());
  std::size_t next =
      std::clamp<std::size_t>(std::size_t(share * double(after)), 1, std::max<std::size_t>(after, 2) - 1);
  for (std::size_t stride = 1; after - before > 1; stride *= 2) {
    const bool is_before = all[next].begin < time;
    (is_before ? before : after) = next;
    next = is_before ? before + stride : after - std::min(stride, after);
    if (next <= before || next >= after) next = before + (after - before) / 2;
  }
  return after;
}

/// How many of those that are kept.
std::size_t Lane::steps_ended_by(Nanoseconds at) const {
  const auto& all = history_->steps;
  const std::size_t begun = at == Nanoseconds::max() ? all.size() : steps_begun_before(at + Nanoseconds{1});
  if (begun == 0) return 0;
  const Nanoseconds end = all[begun - 1].end;
  return end == StepRecord::kGoesOn || end > clock_->lane_time(at) ? begun - 1 : begun;
}

StepSums Lane::sums_of_steps(Nanoseconds from, Nanoseconds to) const {
  if (!history_) return {};
  const auto& steps = history_->steps;
  return history_->sums.between(steps_ended_by(from), steps_ended_by(to),
                                [&](std::size_t i) { return steps[i].sums(); });
}

std::optional<StepRecord> Lane::read(const StepRecord* stored) const {
  return stored == nullptr ? std::nullopt : std::optional(stored->in_session(*clock_));
}

std::optional<StepRecord> Lane::step(wire::Step k) const { return history_ ? read(latest_step(k)) : std::nullopt; }

const StepRecord* Lane::latest_step(wire::Step k) const {
  if (const StepRecord* counted = counted_step(k)) return counted;
  Nanoseconds to = Nanoseconds::max();
  for (auto from = history_->restarts.rbegin(); from != history_->restarts.rend(); to = *from++)
    if (const StepRecord* found = step_between(k, *from, to)) return found;
  return step_between(k, Nanoseconds::min(), to);
}

std::optional<StepRecord> Lane::step(wire::Step k, Nanoseconds at) const {
  if (!history_) return std::nullopt;
  const auto& restarts = history_->restarts;
  const StepRecord* counted = restarts.empty() ? counted_step(k) : nullptr;
  if (counted != nullptr) return read(counted);
  const auto next = std::upper_bound(restarts.begin(), restarts.end(), clock_->lane_time(at));
  return read(step_between(k, next == restarts.begin() ? Nanoseconds::min() : *std::prev(next),
                           next == restarts.end() ? Nanoseconds::max() : *next));
}

/// Where step `k` lies if every step since has the next number; else null.
const StepRecord* Lane::counted_step(wire::Step k) const {
  const auto& all = history_->steps;
  if (all.empty()) return nullptr;
  const wire::Step index = wire::Step(all.size()) - 1 - (all.back().step - k);
  if (index < 0 || index >= wire::Step(all.size()) || all[std::size_t(index)].step != k) return nullptr;
  return &all[std::size_t(index)];
}

/// Among the steps that began in [from, to), whose numbers ascend.
const StepRecord* Lane::step_between(wire::Step k, Nanoseconds from, Nanoseconds to) const {
  const auto& all = history_->steps;
  const auto begun_before = [](Nanoseconds time) {
    return [time](const StepRecord& record) { return record.begin < time; };
  };
  const auto first = std::partition_point(all.begin(), all.end(), begun_before(from));
  const auto last = std::partition_point(first, all.end(), begun_before(to));
  const auto found = std::partition_point(first, last, [&](const StepRecord& record) { return record.step < k; });
  return found == last || found->step != k ? nullptr : &*found;
}

// --- filling ---

bool Lane::append(const wire::Event& event, const LaneLimits& limits, SpareBlocks& spare) {
  if (!history_) {
    history_ = std::make_unique<History>();
    history_->pyramid.start(event.time.count());
    first_ = last_ = event.time;
  }
  const Nanoseconds before = last_;
  account(event, limits);
  follow(event, before, limits);
  last_ = event.time;
  gaps_seen_ = clock_->gaps.size();
  ++events_;
  return history_->events.push(event, history_->pyramid.times(), limits.block_events, spare);
}

void Lane::account(const wire::Event& event, const LaneLimits& limits) {
  Nanoseconds known_end = std::min(event.time, known_limit());
  if (state_ != LaneState::kLive || event.kind == EventKind::kDropped) known_end = last_;
  if (known_end > last_) account_part(category_of(basic_phase()), known_end, limits);
  if (event.time == known_end) return;
  if (state_ == LaneState::kLive) history_->events.add_hole(known_end, event.time);
  account_part(kNoData, event.time, limits);
}

void Lane::account_part(int category, Nanoseconds until, const LaneLimits& limits) {
  const std::int64_t length = (until - last_).count();
  history_->pyramid.add(category, until.count(), limits.buckets);
  if (category != kNoData) account_step(length);
  last_ = until;
}

void Lane::account_step(std::int64_t length) {
  if (!history_->in_step) return;
  if (Nanoseconds* part = part_of(history_->steps.back(), basic_phase())) *part += Nanoseconds(length);
}

/// `before`: time of the event before. A rank that leaves its last phase, and stops, was on its way out: its last step ended
/// with that phase.
void Lane::follow(const wire::Event& event, Nanoseconds before, const LaneLimits& limits) {
  if (event.kind != EventKind::kSwitch) follow_sums(event);
  if (ends_lane(event.kind)) {
    end_step(event.kind == EventKind::kStop && phase_ == Phase::kNone ? before : event.time);
    state_ = event.kind == EventKind::kStop ? LaneState::kStopped : LaneState::kLost;
    phase_ = Phase::kNone;
    return;
  }
  state_ = LaneState::kLive;
  phase_ = event.phase;
  // The next program of this rank has one until it says something else.
  if (event.kind == EventKind::kStart && history_->threads)
    history_->threads->change(1, event.time, history_->pyramid.times(), limits.steps);
  history_->is_new_program = history_->is_new_program || event.kind == EventKind::kStart;
  if (event.kind == EventKind::kStep) begin_step(wire::Step(event.value), event.time, limits);
  if (event.kind == EventKind::kThreads) {
    if (!history_->threads) history_->threads = std::make_unique<ThreadLog>();
    history_->threads->change(event.value, event.time, history_->pyramid.times(), limits.steps);
  }
}

/// Switches alone go on with them.
void Lane::follow_sums(const wire::Event& event) {
  Summed& summed = history_->summed;
  auto& from = history_->summed_from;
  if (from) summed.time += event.time - *from;
  from.reset();
  if (event.kind != EventKind::kSummed || event.value == 0) return;
  summed.phases += event.value;
  history_->step_has_sums = true;
  from = event.time;
}

void Lane::begin_step(wire::Step step, Nanoseconds at, const LaneLimits& limits) {
  auto& steps = history_->steps;
  if (history_->in_step && history_->step_has_sums && step > steps.back().step)
    steps.back().steps = step - steps.back().step;
  history_->step_has_sums = false;
  end_step(at);
  if (!steps.empty() && step <= steps.back().step) history_->restarts.push_back(at);
  history_->sums.begin();
  keep_steps(limits.steps - 1);
  steps.push_back({.step = step, .begin = at, .end = StepRecord::kGoesOn});
  history_->in_step = true;
  history_->is_new_program = false;
}

void Lane::keep_steps(std::uint32_t limit) {
  auto& steps = history_->steps;
  auto& restarts = history_->restarts;
  for (; steps.size() > limit; steps.pop_front()) {
    history_->sums.forget_oldest();
    history_->has_forgotten_steps = true;
  }
  const auto kept =
      steps.empty() ? restarts.end() : std::upper_bound(restarts.begin(), restarts.end(), steps.front().begin);
  if (2 * (kept - restarts.begin()) > std::ptrdiff_t(restarts.size())) restarts.erase(restarts.begin(), kept);
}

void Lane::forget_steps() {
  for (std::size_t step = 0; step < history_->steps.size(); ++step) history_->sums.forget_oldest();
  history_->steps.clear();
  history_->restarts.clear();
  history_->in_step = history_->step_has_sums = false;
}

void Lane::end_step(Nanoseconds at) {
  if (!history_->in_step) return;
  StepRecord& step = history_->steps.back();
  step.end = at;
  history_->sums.end(step.sums());
  history_->in_step = false;
}

void Lane::trim(const LaneLimits& limits) {
  if (!history_) return;
  history_->pyramid.trim(limits.buckets);
  keep_steps(limits.steps);
  history_->steps.shrink();
  if (history_->threads) history_->threads->keep(limits.steps);
}

std::size_t Lane::bytes() const {
  constexpr std::size_t kAllocator = 648;  // What it adds to all of these, about.
  if (!history_) return sizeof(Lane);
  return sizeof(Lane) + sizeof(History) + kAllocator + history_->events.bytes() + history_->pyramid.bytes() +
         history_->steps.bytes() + history_->sums.bytes() + (history_->threads ? history_->threads->bytes() : 0) +
         history_->restarts.capacity() * sizeof(Nanoseconds);
}

// --- reading ---

Times Lane::times_until(Nanoseconds time) const {
  if (time < last_) return history_->events.times_until(time, clock_->basic);
  Times times = history_->pyramid.times();
  if (state_ == LaneState::kLive)
    times[std::size_t(category_of(basic_phase()))] += (std::min(time, known_until_in_lane_time()) - last_).count();
  return times;
}

Times Lane::times_from_buckets(Nanoseconds from, Nanoseconds to) const {
  std::array<double, kCategories> sums{};
  history_->pyramid.for_each_piece(from.count(), to.count(), {}, [&](const Piece& piece) {
    for (std::size_t c = 0; c < kCategories; ++c) sums[c] += double(piece.shares[c]) * double(piece.to - piece.from);
  });
  Times times{};
  for (std::size_t c = 0; c < kCategories; ++c) times[c] = std::llround(sums[c]);
  return times;
}

Times Lane::times_in(Nanoseconds from, Nanoseconds to) const {
  Times times{};
  if (!history_ || from >= to) return times;
  const Nanoseconds exact = exact_from();
  if (from < exact) times = times_from_buckets(from, std::min(to, exact));
  from = std::max(from, exact);
  if (from >= to) return times;
  const Times before = times_until(from);
  const Times after = times_until(to);
  // A user phase that was given another category in between can make a difference negative.
  for (std::size_t c = 0; c < kCategories; ++c) times[c] += std::max<std::int64_t>(0, after[c] - before[c]);
  return times;
}

Nanoseconds Lane::time_in(Category category, Nanoseconds from, Nanoseconds to) const {
  return Nanoseconds(times_in(clock_->lane_time(from), clock_->lane_time(to))[std::size_t(category)]);
}

Times Lane::times(Nanoseconds from, Nanoseconds to) const {
  Times times = times_in(clock_->lane_time(from), clock_->lane_time(to));
  times[kNoData] = 0;
  return times;
}

std::optional<ThreadTimes> Lane::thread_times(Nanoseconds from, Nanoseconds to) const {
  if (!history_ || !history_->threads) return std::nullopt;
  const ThreadLog& threads = *history_->threads;
  const Nanoseconds first = std::max(clock_->lane_time(from), threads.from()), last = clock_->lane_time(to);
  ThreadTimes found{.most = threads.most()};
  if (first >= last) return found;
  const auto worked_until = [&](Nanoseconds at) {
    return threads.worked_until(at, [&](Nanoseconds change) { return times_in(change, at); });
  };
  const Times times = times_in(first, last);
  const auto computed = double(times[std::size_t(Category::kCompute)]);
  found.called = double(times[std::size_t(Category::kWait)]);
  found.known = computed + found.called + double(times[std::size_t(Category::kDelay)]);
  found.worked = worked_until(last) - worked_until(first);
  return found;
}

void Lane::shares(Nanoseconds from, Nanoseconds to, std::span<Shares> out) const {
  const double width = double((to - from).count()) / double(out.size());
  const auto edge = [&](std::size_t i) {
    return clock_->lane_time(from) + Nanoseconds(std::llround(width * double(i)));
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Times times = times_in(edge(i), edge(i + 1));
    const double length = double(std::max<std::int64_t>((edge(i + 1) - edge(i)).count(), 1));
    for (std::size_t c = 0; c < kCategories; ++c) out[i].of[c] = float(double(times[c]) / length);
  }
}

}  // namespace idlewave::timeline
