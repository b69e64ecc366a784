#include "monitor/analysis/waves/rerun.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace idlewave::analysis::waves {
namespace {

using timeline::Lane;
using timeline::Timeline;
using wire::Step;

/// Of a typical step: who is that near to the recording does what was recorded. A tenth of what a rank has to be late by to be
/// reached by a wave.
constexpr double kNoticed = 1e-2;
/// From which the work of a domain's ranks is learnt, before the wave; where there are not that many, after it.
constexpr int kStepsToLearn = 24, kFewestSteps = 8;
/// Nanoseconds: times are rounded, and what is nearer is equal.
constexpr double kRounding = 3;

double nanoseconds(Nanoseconds time) { return double(time.count()); }
Nanoseconds rounded(double nanoseconds) { return Nanoseconds(std::llround(nanoseconds)); }

}  // namespace

Rerun::Rerun(const Timeline& timeline, const partners::Partners& partners, const domains::Contention& contention,
             const Origin& origin, Nanoseconds typical_step)
    : timeline_(timeline),
      partners_(partners),
      contention_(contention),
      origin_(origin),
      typical_step_(typical_step),
      noticed_(kNoticed * nanoseconds(typical_step)),
      runners_(std::size_t(timeline.ranks())),
      group_of_(std::size_t(timeline.ranks()), kNoGroup),
      places_(std::size_t(timeline.ranks())) {
  begin();
}

/// Who was held in a step, or worked longer in it, begins it when it did; who went on late begins it earlier.
void Rerun::begin() {
  const Lane* lane = timeline_.lane(origin_.rank);
  const auto record = lane ? lane->step(origin_.step, origin_.begin) : std::nullopt;
  if (!record) return;
  const steps::StepCourse course = steps::course_of(*lane, *record);
  const Nanoseconds held = origin_.in_work ? course.own() : course.over ? course.held : course.own();
  const Nanoseconds earlier = std::max(Nanoseconds{0}, origin_.excess - held);
  now_ = since_origin(record->begin - earlier);
  touch(origin_.rank);
  if (!is_run(origin_.rank)) return;
  Group& its = group(origin_.rank);
  const std::size_t place = places_[std::size_t(origin_.rank)];
  if (its.service && its.service->is_at_work(place)) its.service->stop(place);
  begin_step(origin_.rank, lane->steps_begun_before(record->begin + Nanoseconds{1}) - 1);
}

double Rerun::volume_of(Rank rank, const domains::Bandwidth& bandwidth) {
  const Nanoseconds from = std::max(timeline_.begin(), origin_.begin - kStepsToLearn * typical_step_);
  const Window window{from, std::max(origin_.begin, from + kFewestSteps * typical_step_)};
  volume_ = domains::common_volume(timeline_, contention_.mates(rank), bandwidth, window, typical_step_, volume_);
  return volume_;
}

Rerun::Group& Rerun::found_group(Rank rank) {
  Group& group = groups_.emplace_back();
  group.ranks = {rank};
  if (contention_.matters_to(rank)) {
    group.ranks = contention_.mates(rank);
    const domains::Bandwidth bandwidth =
        domains::bandwidth_of(timeline_.domains()[std::size_t(timeline_.domain_of(rank))].info);
    group.service.emplace(group.ranks.size(), bandwidth);
    group.service->advance(now_);
    group.served = std::make_unique<domains::ServedWork>(timeline_, group.ranks, bandwidth, volume_of(rank, bandwidth),
                                                         origin_.begin + rounded(now_), typical_step_);
  }
  for (std::size_t place = 0; place < group.ranks.size(); ++place) {
    group_of_[std::size_t(group.ranks[place])] = std::uint32_t(groups_.size() - 1);
    places_[std::size_t(group.ranks[place])] = place;
  }
  return group;
}

void Rerun::touch(Rank rank) {
  if (has_group(rank) || !timeline_.lane(rank)) return;
  Group& group = found_group(rank);
  // What goes on now is asked for before anybody's part is read to its end.
  std::vector<double> done(group.ranks.size());
  if (group.served)
    for (std::size_t place = 0; place < done.size(); ++place) done[place] = group.served->done(place);
  for (std::size_t place = 0; place < done.size(); ++place) join(group.ranks[place], group, place, done[place]);
  expect_work_end(group);
}

/// Up to now in the recording; what begins at this very moment has not, for the wait before it may have to go on.
std::size_t Rerun::steps_begun(const Lane& lane) const {
  const std::size_t begun = lane.steps_begun_before(origin_.begin + rounded(now_) + Nanoseconds{1});
  if (begun < 2) return begun;
  const auto steps = lane.steps();
  const bool begins_now = since_origin(steps[begun - 1].begin) > now_ - kRounding;
  return begins_now && steps[begun - 2].step < steps[begun - 1].step ? begun - 1 : begun;
}

/// Where the recording has it now.
void Rerun::join(Rank rank, Group& group, std::size_t place, double done) {
  const Lane* lane = timeline_.lane(rank);
  const std::size_t begun = lane ? steps_begun(*lane) : 0;
  if (begun == 0) return;
  Runner& runner = at(rank);
  const timeline::StepRecord record = lane->steps()[begun - 1];
  const auto of_its_program = lane->step(record.step, origin_.begin);
  if (!of_its_program || of_its_program->begin != record.begin) return;
  touched_.push_back(rank);
  runner.index = begun - 1;
  runner.step = record.step;
  runner.course = steps::course_of(*lane, record);
  runner.late = 0;
  runner.part =
      group.served ? group.served->part(place, runner.index) : domains::OwnPart{0, 0, nanoseconds(runner.course.own())};
  add_moment(rank);
  ++in_step_[runner.step];
  const double work_begins = since_origin(runner.course.begin) + runner.part.held,
               posted = since_origin(runner.course.post);
  if (now_ < posted) events_.push({posted, Kind::kWasPosted, rank, std::uint32_t(runner.index)});
  if (now_ < work_begins) {
    become(rank, Doing::kHeld);
    expect(work_begins, Kind::kGoesOn, rank);
  } else if (now_ < posted && done < runner.part.work) {
    become(rank, Doing::kAtWork);
    group.service->begin(place, runner.part.work - done);
  } else if (now_ < posted) {
    become(rank, Doing::kIdle);
    expect(posted, Kind::kGoesOn, rank);
  } else {
    become(rank, Doing::kWaits);
    runner.moments.back().sent = !partners_.waits_first(rank);
    expect(now_, Kind::kGoesOn, rank);
  }
}

void Rerun::become(Rank rank, Doing doing) {
  at(rank).doing = doing;
  ++at(rank).version;
}

void Rerun::expect(double time, Kind kind, Rank rank) {
  events_.push({std::max(time, now_), kind, rank, at(rank).version});
}

Rerun::Moment& Rerun::add_moment(Rank rank) {
  Runner& runner = at(rank);
  runner.moments.push_back({.step = runner.step});
  return runner.moments.back();
}

const Rerun::Moment* Rerun::moment(Rank rank, Step step) const {
  const auto& moments = at(rank).moments;
  if (moments.empty() || moments.back().step < step) return nullptr;
  if (moments.back().step == step) return &moments.back();
  const auto found = std::ranges::lower_bound(moments, step, {}, &Moment::step);
  return found != moments.end() && found->step == step ? &*found : nullptr;
}

Nanoseconds Rerun::late_post(Rank rank, Step step) const {
  const Moment* its = moment(rank, step);
  if (its && its->sent) return rounded(its->late_post);
  return at(rank).let_go && !its ? rounded(at(rank).late) : Nanoseconds{0};
}

Nanoseconds Rerun::late_end(Rank rank, Step step) const {
  const Moment* its = moment(rank, step);
  return its ? rounded(its->late_end) : Nanoseconds{0};
}

void Rerun::begin_step(Rank rank, std::size_t index) {
  Runner& runner = at(rank);
  const Lane& lane = *timeline_.lane(rank);
  if (--in_step_[runner.step] == 0) in_step_.erase(runner.step);
  const auto steps = lane.steps();
  if (index >= steps.size()) return become(rank, Doing::kGone);
  const timeline::StepRecord record = steps[index];
  // The next program counts from 0 again.
  if (!runner.moments.empty() && record.step < runner.step) return become(rank, Doing::kGone);
  const bool again = record.step == runner.step && !runner.moments.empty();
  runner.index = index;
  runner.step = record.step;
  runner.course = steps::course_of(lane, record);
  runner.missing = kNobody;
  Group& group = this->group(rank);
  runner.part = group.served ? group.served->part(places_[std::size_t(rank)], index)
                             : domains::OwnPart{0, 0, nanoseconds(runner.course.own())};
  if (rank == origin_.rank && runner.step == origin_.step) leave_out_excess(runner.part);
  if (again)
    runner.moments.back() = {.step = runner.step};
  else
    add_moment(rank);
  ++in_step_[runner.step];
  become(rank, Doing::kHeld);
  expect(now_ + runner.part.held, Kind::kGoesOn, rank);
  events_.push({std::max(now_, since_origin(runner.course.post)), Kind::kWasPosted, rank, std::uint32_t(index)});
}

/// A program that holds itself says so by a phase alone, and works no longer. Where it was held, noise that came in the same
/// step comes behind the work.
void Rerun::leave_out_excess(domains::OwnPart& part) {
  double excess = nanoseconds(origin_.excess);
  const auto take = [&](double& from) {
    const double taken = std::min(from, excess);
    from -= taken, excess -= taken;
  };
  take(part.held);
  if (!origin_.in_work) part.idle += std::exchange(part.held, 0);
  take(part.idle);
  if (origin_.in_work) take(part.work);
}

void Rerun::begin_work(Rank rank) {
  Group& group = this->group(rank);
  if (!group.service || at(rank).part.work <= 0) return end_work(rank);
  become(rank, Doing::kAtWork);
  serve(group);
  group.service->begin(places_[std::size_t(rank)], at(rank).part.work);
  expect_work_end(group);
}

void Rerun::end_work(Rank rank) {
  become(rank, Doing::kIdle);
  expect(now_ + at(rank).part.idle, Kind::kGoesOn, rank);
}

/// Up to now.
void Rerun::serve(Group& group) {
  while (group.service->next_end() <= now_)
    for (const std::size_t place : group.service->end_next()) end_work(group.ranks[place]);
  group.service->advance(now_);
}

void Rerun::expect_work_end(Group& group) {
  if (!group.service) return;
  const double end = group.service->next_end();
  ++group.version;
  if (std::isfinite(end)) events_.push({std::max(end, now_), Kind::kWorkEnds, group.ranks.front(), group.version});
}

void Rerun::post(Rank rank) {
  Runner& runner = at(rank);
  Moment& here = runner.moments.back();
  here.late_post = since_origin(runner.course.post) - now_;
  if (std::abs(here.late_post) <= kRounding) here.late_post = 0;
  become(rank, Doing::kWaits);
  expect(now_, Kind::kGoesOn, rank);
  if (!partners_.waits_first(rank)) send(rank, here.late_post);
}

void Rerun::send(Rank rank, double late) {
  Runner& runner = at(rank);
  Moment& here = runner.moments.back();
  here.sent = true;
  here.late_sent = late;
  partners_.for_each_waiter(rank, runner.step, timeline_.ranks(), [&](Rank waiter, Rank) {
    const Runner& its = runners_[std::size_t(waiter)];
    if (its.doing == Doing::kWaits && its.step == runner.step) expect(now_, Kind::kGoesOn, waiter);
  });
  if (std::abs(late) > noticed_) touch_waiters(rank);
}

void Rerun::touch_waiters(Rank rank) {
  if (partners_.collective) return;
  std::vector<Rank> waiters;
  partners_.for_each_waiter(rank, at(rank).step, timeline_.ranks(),
                            [&](Rank waiter, Rank) { waiters.push_back(waiter); });
  for (const Rank waiter : waiters) touch(waiter);
}

/// One that is run, in a step that it comes to.
bool Rerun::has_yet_to_send(Rank rank, Step step) const {
  const Runner& its = at(rank);
  if (its.doing == Doing::kRecorded || its.doing == Doing::kGone || its.step > step) return false;
  const Moment* here = moment(rank, step);
  if (here && here->sent) return false;
  return its.step == step || steps::step_course(timeline_, rank, step, origin_.begin);
}

/// Asked whenever one of those whom it waits for has sent, and ranks may wait for all others: the one that was missing
/// is asked for first.
bool Rerun::is_missing_someone(Rank rank) {
  Runner& mine = at(rank);
  const auto is_missing = [&](Rank partner) { return ++work_, has_yet_to_send(partner, mine.step); };
  if (mine.missing != kNobody && is_missing(mine.missing)) return true;
  mine.missing = partners_.find_awaited(rank, mine.step, timeline_.ranks(), is_missing);
  return mine.missing != kNobody;
}

double Rerun::late_sent_of(Rank rank, Step step) const {
  const Moment* here = moment(rank, step);
  const Runner& its = at(rank);
  return here && here->sent ? here->late_sent : its.let_go ? its.late : 0;
}

/// Else the rank ends its step when it did.
bool Rerun::is_anybody_late(Rank rank) const {
  const Runner& mine = at(rank);
  if (mine.moments.back().late_post != 0) return true;
  const auto is_late = [&](Rank partner) { return late_sent_of(partner, mine.step) != 0; };
  return partners_.find_awaited(rank, mine.step, timeline_.ranks(), is_late) != kNobody;
}

/// No message came after the rank had gone on.
Rerun::Last Rerun::last_of(Rank rank) {
  Runner& mine = at(rank);
  if (mine.course.over && !is_anybody_late(rank)) return {};
  if (!mine.message) mine.message = message_time(timeline_, partners_, rank, mine.index);
  const double post = since_origin(mine.course.post);
  const double latest = mine.course.over ? since_origin(mine.course.end) : std::numeric_limits<double>::infinity();
  Last last{.recorded = -std::numeric_limits<double>::infinity(), .now = -std::numeric_limits<double>::infinity()};
  const auto take = [&](double recorded, double late) {
    recorded = std::min(recorded, std::max(latest, post));
    last.recorded = std::max(last.recorded, recorded);
    last.now = std::max(last.now, recorded - late);
  };
  const int back = partners_.messages_to_itself(rank, mine.step, timeline_.ranks());
  take(post + mine.message->of_itself(back), mine.moments.back().late_post);
  partners_.for_each_message(rank, mine.step, timeline_.ranks(), [&](Rank partner, Rank, int messages) {
    const Runner& its = at(partner);
    const bool is_here = its.step == mine.step && its.doing != Doing::kRecorded;
    const auto course =
        is_here ? std::optional(its.course) : steps::step_course(timeline_, partner, mine.step, origin_.begin);
    if (course)
      take(since_origin(partners_.sent(partner, *course)) + mine.message->of(messages),
           late_sent_of(partner, mine.step));
  });
  return last;
}

/// Looked at whenever one of those whom it waits for has posted.
void Rerun::end_wait(Rank rank) {
  if (is_missing_someone(rank)) return;
  Runner& runner = at(rank);
  const Last last = last_of(rank);
  double late = last.recorded - last.now;
  if (std::abs(late) <= kRounding) late = 0;
  const double end = (runner.course.over ? since_origin(runner.course.end) : last.recorded) - late;
  if (end > now_) {
    ++runner.version;
    return expect(end, Kind::kGoesOn, rank);
  }
  runner.late = runner.moments.back().late_end = late;
  if (partners_.waits_first(rank)) send(rank, late);
  if (runner.course.over) return begin_step(rank, runner.index + 1);
  if (--in_step_[runner.step] == 0) in_step_.erase(runner.step);
  become(rank, Doing::kGone);
}

void Rerun::take(const Event& event) {
  now_ = std::max(now_, event.at);
  Runner& runner = at(event.rank);
  if (event.kind == Kind::kWorkEnds) {
    Group& group = this->group(event.rank);
    if (event.version != group.version || !group.service) return;
    serve(group);
    return expect_work_end(group);
  }
  if (event.kind == Kind::kWasPosted) {
    const bool is_late = runner.doing == Doing::kHeld || runner.doing == Doing::kAtWork || runner.doing == Doing::kIdle;
    if (is_late && runner.index == event.version) touch_waiters(event.rank);
    return;
  }
  if (event.version != runner.version) return;
  switch (runner.doing) {
    case Doing::kHeld: return begin_work(event.rank);
    case Doing::kIdle: return post(event.rank);
    case Doing::kWaits: return end_wait(event.rank);
    default: return;
  }
}

void Rerun::run_through(Step step) {
  while (!events_.empty() && !in_step_.empty() && in_step_.begin()->first <= step) {
    const Event event = events_.top();
    events_.pop();
    ++work_;
    take(event);
  }
}

void Rerun::let_go(Rank rank) {
  Group& group = this->group(rank);
  for (const Rank each : group.ranks) {
    Runner& runner = at(each);
    if (runner.doing == Doing::kRecorded) continue;
    if (runner.doing != Doing::kGone && --in_step_[runner.step] == 0) in_step_.erase(runner.step);
    runner.let_go = true;
    become(each, Doing::kRecorded);
  }
  group.service.reset(), group.served.reset();
  ++group.version;
}

}  // namespace idlewave::analysis::waves
