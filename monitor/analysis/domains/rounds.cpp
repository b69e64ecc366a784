#include "monitor/analysis/domains/rounds.h"

#include <algorithm>

#include "monitor/analysis/domains/concurrency.h"
#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::domains {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;
using wire::Step;

constexpr Nanoseconds kLookBack = std::chrono::seconds(2);
constexpr std::size_t kLeast = 12;

MemberStep member_step(const StepRecord& record) {
  return {.begin = record.begin,
          .length = record.end - record.begin,
          .waiting = record.wait + record.communicate,
          .held = record.delay};
}

/// Appends what each member did in this step; false, and nothing, where one of them did not end it by `at`.
bool append_row(std::span<StepsBack> back, Step step, Nanoseconds at, std::vector<MemberStep>& rows) {
  const std::size_t before = rows.size();
  for (StepsBack& member : back) {
    const auto record = member.to(step);
    if (!record || record->end <= record->begin || record->end > at) {
      rows.resize(before);
      return false;
    }
    rows.push_back(member_step(*record));
  }
  return true;
}

}  // namespace

void Members::find(const Timeline& timeline, std::span<const Rank> all, Nanoseconds at) {
  ranks.clear(), lanes.clear(), since.clear();
  common = wire::kNoStep, newest = Nanoseconds::min();
  for (const Rank rank : all) {
    const Lane* lane = timeline.lane(rank);
    const std::size_t begun = lane && !steps::was_silent(*lane, at) ? lane->steps_begun_before(at) : 0;
    if (begun == 0) continue;
    const StepRecord now = lane->steps()[begun - 1];
    common = ranks.empty() ? now.step : std::min(common, now.step);
    ranks.push_back(rank), lanes.push_back(lane), since.push_back(now.begin);
  }
  if (common == wire::kNoStep) return;
  if (const auto record = lanes.front()->step(common, at)) newest = record->begin;
}

std::optional<StepRecord> StepsBack::next() {
  if (left_ == 0) return std::nullopt;
  const StepRecord record = steps_[left_ - 1];
  // The next program counts anew.
  if (record.step >= before_) return std::nullopt;
  --left_;
  before_ = record.step;
  return record;
}

std::optional<StepRecord> StepsBack::to(Step step) {
  for (auto record = next(); record; record = next())
    if (record->step <= step) return record->step == step ? record : std::nullopt;
  return std::nullopt;
}

Window MemberStep::work() const {
  return work_of({.begin = begin, .post = begin + length - waiting, .end = begin + length, .held = held, .over = true});
}

void Rounds::read(const Members& members, Nanoseconds at, Room& room) {
  if (members.ranks != ranks_) begin_anew(members);
  if (members.newest == Nanoseconds::min()) return begin_anew(members);
  drop_forgotten(members);
  if (!read_new(members, at, room)) begin_anew(members);
  room.changes.clear();
  for (std::size_t row = room.numbers.size(); row-- > 0;)
    push(room.numbers[row], std::span(room.rows).subspan(row * ranks_.size(), ranks_.size()), room);
  add_changes(room);
  drop_old(at);
  drop_changes();
}

void Rounds::begin_anew(const Members& members) {
  ranks_ = members.ranks;
  changes_.clear();
  newest_ = count_ = gone_ = 0;
}

bool Rounds::read_new(const Members& members, Nanoseconds at, Room& room) const {
  room.back.clear(), room.rows.clear(), room.numbers.clear();
  for (const Lane* lane : members.lanes) room.back.emplace_back(*lane, at);
  StepsBack first(*members.lanes.front(), members.newest - Nanoseconds{1}, members.common);
  while (room.numbers.size() < kMost) {
    const auto each = first.next();
    if (!each || (room.numbers.size() >= kLeast && each->begin < at - kLookBack)) return false;
    if (!append_row(room.back, each->step, at, room.rows)) return false;
    if (is_newest(each->step, std::span(room.rows).last(ranks_.size()))) return true;
    room.numbers.push_back(each->step);
  }
  return false;
}

bool Rounds::is_newest(Step step, std::span<const MemberStep> row) const {
  return count_ > 0 && (*this)[0].step == step && std::ranges::equal(row, of(0));
}

void Rounds::push(Step step, std::span<const MemberStep> row, Room& room) {
  rounds_.resize(kMost), steps_.resize(kMost * ranks_.size());
  count_ = std::min(count_ + 1, kMost);
  newest_ = (newest_ + kMost - 1) % kMost;
  std::ranges::copy(row, steps_.begin() + std::ptrdiff_t(newest_ * ranks_.size()));
  Round round{.number = next_number_++, .step = step};
  room.work.clear();
  for (std::uint32_t member = 0; member < row.size(); ++member) {
    const MemberStep& its = row[member];
    round.first_begin = std::min(round.first_begin, its.begin);
    round.last_begin = std::max(round.last_begin, its.begin);
    round.first_end = std::min(round.first_end, its.begin + its.length);
    round.most_idle = std::max(round.most_idle, its.idle());
    round.least_wait = std::min(round.least_wait, its.waiting);
    const Window work = its.work();
    room.work.push_back(work.length());
    if (work.length() <= Nanoseconds{0}) continue;
    room.changes.push_back({work.from, round.number, member, 1});
    room.changes.push_back({work.to, round.number, member, 0});
  }
  const auto middle = room.work.begin() + std::ptrdiff_t(room.work.size() / 2);
  std::ranges::nth_element(room.work, middle);
  round.usual_work = double(middle->count());
  rounds_[newest_] = round;
}

/// Those of rounds that were just pushed, which are later than nearly all that are there.
void Rounds::add_changes(Room& room) {
  std::ranges::sort(room.changes, {}, &WorkChange::at);
  std::size_t there = changes_.size(), more = room.changes.size(), to = there + more;
  changes_.resize(to);
  while (more > 0) {
    const bool is_later = there > gone_ && changes_[there - 1].at > room.changes[more - 1].at;
    changes_[--to] = is_later ? changes_[--there] : room.changes[--more];
  }
}

/// What a lane does not keep any more is not looked at, whoever read it before.
void Rounds::drop_forgotten(const Members& members) {
  for (std::size_t i = 0; i < members.lanes.size(); ++i) {
    const Nanoseconds kept_from = members.lanes[i]->steps().front().begin;
    while (count_ > 0 && of(count_ - 1)[i].begin < kept_from) --count_;
  }
}

void Rounds::drop_old(Nanoseconds at) {
  while (count_ > kLeast && of(count_ - 1).front().begin < at - kLookBack) --count_;
}

void Rounds::drop_changes() {
  if (count_ == 0) return;
  const std::uint32_t oldest = (*this)[count_ - 1].number;
  while (gone_ < changes_.size() && is_before(changes_[gone_].round, oldest)) ++gone_;
  if (2 * gone_ < changes_.size()) return;
  changes_.erase(changes_.begin(), changes_.begin() + std::ptrdiff_t(gone_));
  gone_ = 0;
}

}  // namespace idlewave::analysis::domains
