#include "monitor/analysis/causes/cause_tally.h"

#include <algorithm>
#include <optional>

#include "monitor/analysis/steps/step_history.h"
#include "monitor/analysis/steps/step_parts.h"

namespace idlewave::analysis::causes {
namespace {

using timeline::Lane;
using timeline::StepRecord;

/// Steps that are kept to compare with: a rank may be late for so long before anybody waits for it.
constexpr std::size_t kMostRows = 16;
constexpr std::size_t kMostPlaces = 1 << 21;
/// Before the window, since its first waits have causes too; or as many as the window has.
constexpr std::ptrdiff_t kLeastStepsBefore = 32;

bool is_later(Nanoseconds at, Rank rank, Nanoseconds than, Rank other) {
  return at > than || (at == than && other >= 0 && rank < other);
}

bool ended_within(Window window, const steps::StepCourse& course) {
  return course.over && course.end > window.from && course.end <= window.to;
}

/// How far times lie above the least of them, all together.
class Spread {
 public:
  void add(Nanoseconds time) {
    least_ = std::min(least_, time);
    sum_ += double(time.count());
    ++times_;
  }
  bool empty() const { return times_ == 0; }
  double value() const { return empty() ? 0 : sum_ - times_ * double(least_.count()); }
  int times() const { return times_; }

 private:
  Nanoseconds least_ = Nanoseconds::max();
  double sum_ = 0;
  int times_ = 0;
};

bool is_heard(const Lane* lane) { return lane && lane->events() > 0; }

/// In the step that it was in when its process ended without saying so, it waited at the end.
bool ended_in_a_wait(const Lane& lane, const steps::StepCourse& course) {
  constexpr Nanoseconds kMoment{100};  // What is left of less may vanish where a node's clock is laid on the session's.
  return lane.time_in(timeline::Category::kWait, course.end - kMoment, course.end) > kMoment / 2;
}

/// When it started what it waits for behind its work; where it starts nothing, or has waited before, however shortly: when it
/// began to wait.
Nanoseconds first_start(const Lane& lane, const steps::StepCourse& course) {
  Nanoseconds first = course.post;
  bool waits = false;
  lane.for_each_event(course.begin, course.post, [&](const wire::Event& event) {
    if (!wire::changes_phase(event.kind)) return;
    if (event.phase == wire::Phase::kCommunicate) first = std::min(first, event.time);
    waits = waits || (event.phase == wire::Phase::kWait && event.time > course.begin);  // Else that of the step before.
  });
  return waits ? course.post : first;
}

std::size_t steps_begun_by(const Lane& lane, Nanoseconds at) {
  return lane.steps_begun_before(std::min(at, Nanoseconds::max() - Nanoseconds{1}) + Nanoseconds{1});
}

/// Most of the others' steps are found in those of the rank that had most.
const Lane* fullest_lane(const timeline::Timeline& timeline, Nanoseconds at) {
  const Lane* fullest = nullptr;
  std::size_t most = 0;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    const std::size_t steps = lane ? steps_begun_by(*lane, at) : 0;
    if (steps > most) fullest = lane, most = steps;
  }
  return fullest;
}

}  // namespace

CauseTally::CauseTally(const timeline::Timeline& timeline, Window window, const CauseGround& ground)
    : timeline_(timeline),
      window_(window),
      ground_(ground),
      tolerance_(steps::least_work(ground.typical_step)),
      run_end_(std::min(window.to, steps::run_end(timeline))),
      steps_(ground.partners.unlike_counts ? std::vector<NumberedStep>{} : steps_up_to(timeline, window)),
      sharing_(timeline, {steps_.empty() ? window.from : steps_.front().begin, window.to}),
      domains_(ground.shares_bandwidth ? timeline.domains().size() : 0),
      rows_(
          std::clamp<std::size_t>(kMostPlaces / std::max<std::size_t>(1, std::size_t(timeline.ranks())), 2, kMostRows)),
      read_until_(std::size_t(timeline.ranks()), Nanoseconds::min()),
      lasts_(std::size_t(timeline.ranks())),
      sums_(std::size_t(timeline.ranks())) {}

std::vector<CauseTally::NumberedStep> CauseTally::steps_up_to(const timeline::Timeline& timeline, Window window) {
  std::vector<NumberedStep> steps;
  const Lane* lane = fullest_lane(timeline, window.to);
  if (!lane) return steps;
  const auto first = std::ptrdiff_t(steps_begun_by(*lane, window.from)),
             last = std::ptrdiff_t(steps_begun_by(*lane, window.to));
  for (auto k = std::max<std::ptrdiff_t>(0, first - std::max(kLeastStepsBefore, last - first)); k < last; ++k) {
    const StepRecord record = lane->steps()[std::size_t(k)];
    steps.push_back({record.step, record.begin});
  }
  return steps;
}

bool CauseTally::advance(std::size_t rank_steps) {
  std::size_t looked = 0;
  while (next_domain_ < domains_ && looked < rank_steps) looked += sharing_.look_at(next_domain_++);
  if (next_domain_ < domains_) return true;
  for (; next_ < steps_.size() && looked < rank_steps; ++next_)
    looked += trace(steps_[next_]) * std::size_t(timeline_.ranks());
  return next_ < steps_.size();
}

/// In how many rows.
std::size_t CauseTally::trace(const NumberedStep& step) {
  read(step);
  const bool may_have_parts = !ground_.shares_bandwidth && ground_.partners.has_several_waits(step.number);
  const std::size_t parts = may_have_parts ? trace_parts(step.number) : 0;
  if (parts == 0) trace_row(step.number, false);
  return std::max<std::size_t>(parts, 1);
}

/// Each part is a row. How many; 0: the step is one whole.
std::size_t CauseTally::trace_parts(Step step) {
  std::vector<steps::RankCourse> courses;
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    const Place& place = row(0).ranks[std::size_t(rank)];
    if (place.presence == Presence::kMissing || place.loss != Loss::kNone) return 0;
    if (place.presence != Presence::kThere) continue;
    if (!place.course.over) return 0;
    courses.push_back({rank, place.course});
  }
  const auto parts = parts_of(timeline_, courses, tolerance_);
  if (parts.empty()) return 0;
  for (std::size_t part = 0; part < parts[0].size(); ++part) {
    if (part > 0) {
      PerRank<Place> places = row(0).ranks;
      begin_row();
      now().ranks = std::move(places);
    }
    for (std::size_t i = 0; i < courses.size(); ++i) {
      Place& place = now().ranks.of(std::size_t(courses[i].rank));
      place.course = parts[i][part];
      place.works_between.reset();
    }
    trace_row(step, true);
  }
  return parts[0].size();
}

/// Which of its waits a step's collective is nobody says: of a part the times tell it.
void CauseTally::trace_row(Step step, bool is_part) {
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank)
    if (is_there(rank)) lasts_.of(std::size_t(rank)) = last_partner(rank, step, is_part);
  const LastPost last = last_of_all();
  const bool said_collective = ground_.partners.said_collective(step), is_said = said_collective && !is_part;
  const bool is_of_all = is_said || all_wait_for_the_last(step, last, said_collective);
  std::optional<LastPost> last_call;
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    if (!is_there(rank)) continue;
    const bool is_by_call = is_said && went_on_before(rank, last);
    if (is_by_call && !last_call) last_call = last_call_of_all();
    settle(rank, step, is_by_call ? *last_call : is_of_all ? last : lasts_[std::size_t(rank)]);
  }
}

void CauseTally::begin_row() {
  current_ = (current_ + 1) % rows_.size();
  rows_read_ = std::min(rows_read_ + 1, rows_.size());
  now().parts.clear();
}

void CauseTally::read(const NumberedStep& step) {
  begin_row();
  PerRank<Place>& places = now().ranks;
  places.resize(std::size_t(timeline_.ranks()));
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank)
    if (is_heard(timeline_.lane(rank)) || places.may_have_changed(std::size_t(rank)))
      places.of(std::size_t(rank)) = place_of(rank, step);
}

CauseTally::Place CauseTally::place_of(Rank rank, const NumberedStep& step) {
  const Lane* lane = timeline_.lane(rank);
  if (!lane) return {};
  const auto record = lane->step(step.number, step.begin);
  // The same number may be found again, where this rank has not begun the next program.
  if (!record || record->begin <= read_until_[std::size_t(rank)] || record->begin > window_.to)
    return {.presence = steps::was_silent(*lane, step.begin) ? Presence::kGone : Presence::kMissing};
  read_until_[std::size_t(rank)] = record->begin;
  steps::StepCourse course = steps::course_at(*lane, *record, window_.to);
  Loss loss = Loss::kNone;
  if (lane->state() == timeline::LaneState::kLost && course.over && course.end == lane->last())
    loss = ended_in_a_wait(*lane, course) ? Loss::kInAWait : Loss::kInItsPart;
  // Its part is never done.
  if (loss == Loss::kInItsPart) course.post = course.end = std::max(course.end, run_end_);
  // How much longer its work will take is not known while it goes on.
  const bool still_works = !course.over && course.waited() <= Nanoseconds{0};
  const Nanoseconds slowed = still_works ? Nanoseconds{0} : sharing_.slowed(rank, course.begin);
  return {.course = course, .slowed = slowed, .presence = Presence::kThere, .loss = loss};
}

/// When the other did its part, as far as that is told by how long this rank waited.
Nanoseconds CauseTally::post_before(const Place& its, const Place& mine) {
  return its.loss == Loss::kInItsPart ? std::min(its.course.post, mine.course.end) : its.course.post;
}

/// The same, or when it started what that wait was for.
Nanoseconds CauseTally::post_within(Rank other, Step step, const Place& mine) const {
  const Nanoseconds post = post_before(row(0).ranks[std::size_t(other)], mine);
  return post > mine.course.end + tolerance_ ? started_by(other, step) : post;
}

/// A wait that was over before its partner began to wait was for a message that is sent before the work, as where an exchange
/// is started, and waited for behind what can be done meanwhile. Where its events are not kept nobody knows.
Nanoseconds CauseTally::started_by(Rank rank, Step step) const {
  const steps::StepCourse& course = row(0).ranks[std::size_t(rank)].course;
  const Lane& lane = *timeline_.lane(rank);
  const bool is_known = course.begin >= lane.events_from() && !ground_.partners.has_several_waits(step);
  return is_known ? first_start(lane, course) : course.post;
}

/// Of a part those alone that it waits for directly: what those have waited for before has a part of its own.
CauseTally::LastPost CauseTally::last_partner(Rank rank, Step step, bool is_part) const {
  const Place& mine = row(0).ranks[std::size_t(rank)];
  LastPost last{.at = mine.course.post, .known = ground_.partners.are_known_of(rank, step)};
  const auto look_at = [&](Rank other, Rank offset, partners::WaitsFor what) {
    const Place& its = row(0).ranks[std::size_t(other)];
    if (its.presence == Presence::kMissing) last.known = false;
    if (its.presence != Presence::kThere) return;
    const Nanoseconds post = post_within(other, step, mine);
    if (post > mine.course.end + tolerance_) {
      last.is_all = false;
      return;
    }
    last.of_others = std::max(last.of_others, post);
    if (its.loss == Loss::kInAWait) last.lost = std::min(last.lost, its.course.end);
    if (is_later(post, other, last.at, last.rank))
      last.rank = other, last.at = post, last.offset = offset, last.what = what;
  };
  if (is_part)
    ground_.partners.for_each_directly(rank, step, timeline_.ranks(), look_at);
  else
    ground_.partners.for_each_awaited(rank, step, timeline_.ranks(), [&](Rank other, Rank offset) {
      look_at(other, offset, partners::WaitsFor::kNotSaid);
    });
  // Whether that one's receive ended the wait, nobody knows.
  ground_.partners.for_each_perhaps(rank, step, timeline_.ranks(), [&](Rank other, partners::WaitsFor what) {
    if (!is_there(other) || (is_part && what == partners::WaitsFor::kThroughOthers)) return;
    const Nanoseconds post = post_within(other, step, mine);
    if (post > last.at && post <= mine.course.end + tolerance_) last.known = false, last.is_open = true;
  });
  return last;
}

/// `post_of`: when a rank posted, by its course.
template <class PostOf>
CauseTally::LastPost CauseTally::last_of_all(PostOf post_of) const {
  LastPost last{.at = Nanoseconds::min()};
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    const Place& its = row(0).ranks[std::size_t(rank)];
    if (its.presence == Presence::kMissing) last.known = false;
    if (its.presence != Presence::kThere) continue;
    const Nanoseconds post = post_of(rank, its.course);
    if (post > last.at) last.rank = rank, last.at = post;
    if (its.loss == Loss::kInAWait) last.lost = std::min(last.lost, its.course.end);
  }
  return last;
}

CauseTally::LastPost CauseTally::last_of_all() const {
  return last_of_all([](Rank, const steps::StepCourse& course) { return course.post; });
}

/// So the collective was not for what that one had yet to do: it was started before that, and waited for later. One that is
/// lost before it has done its part holds up all, but for those who are lost as well.
bool CauseTally::went_on_before(Rank rank, const LastPost& last) const {
  const Place& its = row(0).ranks[std::size_t(rank)];
  const bool is_lost = last.rank < 0 || row(0).ranks[std::size_t(last.rank)].loss == Loss::kInItsPart;
  return !is_lost && its.course.over && its.course.end < last.at - tolerance_;
}

/// By which one that is started is posted: the first of the step. Where the events are not kept nobody knows.
CauseTally::LastPost CauseTally::last_call_of_all() const {
  bool are_kept = true;
  LastPost last = last_of_all([&](Rank rank, const steps::StepCourse& course) {
    const Lane& lane = *timeline_.lane(rank);
    are_kept = are_kept && course.begin >= lane.events_from();
    return steps::first_call(lane, course);
  });
  last.known = last.known && are_kept;
  return last;
}

/// As in a step with a collective: nobody leaves it before the last has done its part, and how long after that they leave
/// it is more alike than how long after the last of their partners. Where it is open whether a rank waited for others than
/// those, that can't be told. `is_likely`: the step is said to have one.
bool CauseTally::all_wait_for_the_last(Step step, const LastPost& last, bool is_likely) const {
  Spread after_all, after_partners, after_others;
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    const Place& mine = row(0).ranks[std::size_t(rank)];
    if (mine.presence != Presence::kThere || !mine.course.over) continue;
    if (mine.course.end < last.at - tolerance_) return false;
    if (ground_.partners.are_known() && !ground_.partners.are_known_of(rank, step)) continue;
    const LastPost& partner = lasts_[std::size_t(rank)];
    if (partner.is_open) return false;
    after_all.add(mine.course.end - last.at);
    after_partners.add(mine.course.end - partner.at);
    // A message that takes its time may come long after the rank's own post, or just before it.
    if (mine.course.waited() > Nanoseconds{0} && partner.of_others != Nanoseconds::min())
      after_others.add(mine.course.end - partner.of_others);
  }
  // Of ranks that say whom they wait for only more than what messages may differ by speaks against what they say.
  const bool is_said = ground_.partners.source == partners::PartnerSource::kDeclared && !is_likely;
  const double better = is_said ? after_all.times() * double(tolerance_.count()) : 0;
  return after_all.value() + better < after_partners.value() &&
         (after_others.empty() || after_all.value() < after_others.value());
}

/// What it does behind its first wait of the step is not in its post: others may wait for that, and it may do that while
/// they wait. Where the events are not kept that can't be seen. What is one wait, and none, is as where steps are parted.
bool CauseTally::finds_work_between_waits(Rank rank) const {
  const steps::StepCourse& course = row(0).ranks[std::size_t(rank)].course;
  const Lane& lane = *timeline_.lane(rank);
  if (course.post < lane.events_from()) return false;
  const auto time_in = [&](timeline::Category category) { return lane.time_in(category, course.post, course.end); };
  if (time_in(timeline::Category::kCompute) + time_in(timeline::Category::kDelay) <= tolerance_) return false;
  const auto waits = steps::waits_in(lane, course, tolerance_);
  const auto is_long = [](const steps::CourseWait& wait) { return wait.end - wait.begin > steps::kShortWait; };
  return !waits || std::ranges::count_if(*waits, is_long) > 1;
}

/// Asked of a rank for each of those who wait for it.
bool CauseTally::works_between_waits(Rank rank) {
  std::optional<bool>& known = now().ranks.of(std::size_t(rank)).works_between;
  if (!known) known = finds_work_between_waits(rank);
  return *known;
}

/// What is left of a wait when all whom it was for have posted.
bool CauseTally::is_for_messages(Rank rank, Step step, const LastPost& last) {
  const Nanoseconds end = row(0).ranks[std::size_t(rank)].course.end;
  if (!last.is_all || last.lost < end - tolerance_ || works_between_waits(rank)) return false;
  if (last.rank >= 0 && works_between_waits(last.rank)) return false;
  const auto works = [&](Rank other) { return is_there(other) && works_between_waits(other); };
  bool is_known = ground_.partners.find_awaited(rank, step, timeline_.ranks(), works) < 0;
  ground_.partners.for_each_perhaps(rank, step, timeline_.ranks(),
                                    [&](Rank other, partners::WaitsFor) { is_known = is_known && !works(other); });
  return is_known;
}

void CauseTally::settle(Rank rank, Step step, const LastPost& last) {
  Row& row = now();
  Place& mine = row.ranks.of(std::size_t(rank));
  mine.first_part = std::uint32_t(row.parts.size());
  mine.parts = 0;
  mine.is_open = last.is_open;
  if (!mine.course.over) return;
  counts_ = ended_within(window_, mine.course);
  const Nanoseconds waited = mine.course.waited();
  const Nanoseconds until = last.known ? std::min(last.at, mine.course.end) : mine.course.end;
  const Nanoseconds caused = std::clamp(until - mine.course.post, Nanoseconds{0}, waited);
  const Nanoseconds rest = waited - caused;
  const bool was_for_messages = rest <= tolerance_ || is_for_messages(rank, step, last);
  mine.transfer = was_for_messages ? rest : Nanoseconds{0};
  if (counts_) {
    RankCauses& causes = sums_.of(rank);
    causes.waited += waited, causes.transfer += mine.transfer, causes.ended.messages += mine.transfer;
  }
  if (!was_for_messages) take(rank, kUnknownCause, rest, false);
  if (!last.known)
    take(rank, kUnknownCause, caused, false);
  else if (last.rank >= 0 && last.rank != rank)
    explain(rank, last, caused), account_end(rank, step, last, caused);
}

void CauseTally::account_end(Rank rank, Step step, const LastPost& last, Nanoseconds caused) {
  if (!counts_) return;
  if (last.offset == 0)
    sums_.of(rank).ended.collectives += caused;
  else
    sums_.add_end(rank, what_ended(rank, step, last), caused);
}

/// Of partners that posted at the same moment one that it waits for directly comes first.
partners::WaitsFor CauseTally::what_ended(Rank rank, Step step, const LastPost& last) const {
  if (last.what != partners::WaitsFor::kNotSaid) return last.what;
  const partners::WaitsFor what = ground_.partners.what(rank, step, last.offset);
  if (what != partners::WaitsFor::kThroughOthers) return what;
  partners::WaitsFor found = what;
  ground_.partners.for_each_awaited(rank, step, timeline_.ranks(), [&](Rank other, Rank offset) {
    if (found == what && is_there(other) && row(0).ranks[std::size_t(other)].course.post == last.at)
      found = ground_.partners.what(rank, step, offset);
  });
  return found;
}

/// Takes the top of the way on which `late` came to its post, as far as that way was longer than this rank's own: what it
/// did longer in this step, then the end of its wait in the step before, and so on.
void CauseTally::explain(Rank rank, const LastPost& last, Nanoseconds need) {
  const Rank late = last.rank;
  for (std::size_t back = 0; need > Nanoseconds{0}; ++back) {
    const Place& its = row(back).ranks[std::size_t(late)];
    const Place& mine = row(back).ranks[std::size_t(rank)];
    const Nanoseconds own = back == 0 ? last.at - its.course.begin : its.course.own();
    const Nanoseconds longer = std::max(Nanoseconds{0}, own - mine.course.own());
    const Nanoseconds by_itself = std::clamp(longer - (its.slowed - mine.slowed), Nanoseconds{0}, longer);
    need -= take(rank, late, std::min(need, by_itself), true);
    need -= take(rank, kBandwidth, std::min(need, longer - by_itself), false);
    if (!goes_on_from(back, late) || !goes_on_from(back, rank)) break;
    const Row& before = row(back + 1);
    const Place& its_wait = before.ranks[std::size_t(late)];
    const Place& my_wait = before.ranks[std::size_t(rank)];
    const Nanoseconds slower = std::clamp(its_wait.transfer - my_wait.transfer, Nanoseconds{0}, need);
    need -= take(rank, my_wait.is_open ? kUnknownCause : kTransfer, slower, false);
    for (const Part& part : before.parts_of(its_wait))
      need -= take(rank, part.rank, std::min(need, part.length), false);
  }
  take(rank, kUnknownCause, need, false);
}

/// The row before that one holds what the rank did just before.
bool CauseTally::goes_on_from(std::size_t back, Rank rank) const {
  if (back + 1 >= rows_read_) return false;
  const Place& before = row(back + 1).ranks[std::size_t(rank)];
  return before.presence == Presence::kThere && before.course.over &&
         before.course.end == row(back).ranks[std::size_t(rank)].course.begin;
}

Nanoseconds CauseTally::take(Rank rank, Rank cause, Nanoseconds length, bool direct) {
  if (length <= Nanoseconds{0}) return Nanoseconds{0};
  Row& row = now();
  Place& mine = row.ranks.of(std::size_t(rank));
  if (mine.parts > 0 && row.parts.back().rank == cause) {
    row.parts.back().length += length;
  } else {
    row.parts.push_back({cause, length});
    ++mine.parts;
  }
  if (counts_) sums_.add(rank, cause, length, direct);
  return length;
}

}  // namespace idlewave::analysis::causes
