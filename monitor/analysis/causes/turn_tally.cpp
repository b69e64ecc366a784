#include "monitor/analysis/causes/turn_tally.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::causes {
namespace {

using timeline::Lane;

/// Of each rank, and of all: more of few ranks, whose steps may have hundreds.
constexpr std::size_t kTurnsKept = 64, kMostTurnsKept = 1024;
constexpr std::size_t kMostTurns = 1 << 21, kMostTurnsOfFew = 1 << 17;
/// Before the window, since its first waits have causes too.
constexpr std::ptrdiff_t kStepsBeforeWindow = 32;
/// By so much more than the end of a wait the post that ended it may seem to be, as clocks may be off.
constexpr Nanoseconds kClocksOff{50'000};
/// On the way back from a post.
constexpr int kMostHops = 256;
constexpr std::size_t kMeetingsKept = 8;

using CallKind = wire::CallPartners::Kind;

/// Calls visit(rank) for those of `ranks` whose messages that call of `own` waited for.
template <class Visit>
void for_each_sender(const wire::CallPartners& with, Rank own, Rank ranks, Visit visit) {
  for (std::uint64_t left = with.senders; left != 0; left &= left - 1) {
    const Rank sender = own + std::countr_zero(left) - wire::CallPartners::kReach;
    if (sender >= 0 && sender < ranks) visit(sender);
  }
  if (with.kind == CallKind::kFrom || with.kind == CallKind::kFromTwo) visit(with.first);
  if (with.kind == CallKind::kFromTwo || with.kind == CallKind::kSentAndReceived) visit(with.second);
}

/// Whose receive it may have waited for; -1: nobody's.
Rank receiver(const wire::CallPartners& with) {
  return with.kind == CallKind::kToWaiting || with.kind == CallKind::kSent ? with.first : -1;
}

Nanoseconds begin_of(const timeline::Timeline& timeline, Nanoseconds from) {
  Nanoseconds begin = from;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    const auto begun = lane ? std::ptrdiff_t(lane->steps_begun_before(from)) : 0;
    if (begun > 0)
      begin =
          std::min(begin, lane->steps()[std::size_t(std::max<std::ptrdiff_t>(0, begun - kStepsBeforeWindow))].begin);
  }
  return begin;
}

std::size_t turns_kept(std::size_t ranks) {
  const std::size_t of_few = std::min(kMostTurnsOfFew / std::max<std::size_t>(1, ranks), kMostTurnsKept);
  const std::size_t of_many = std::clamp<std::size_t>(kMostTurns / std::max<std::size_t>(1, ranks), 4, kTurnsKept);
  return std::max(of_few, of_many);
}

}  // namespace

TurnTally::TurnTally(const timeline::Timeline& timeline, Window window, const CauseGround& ground)
    : timeline_(timeline),
      window_(window),
      ground_(ground),
      tolerance_(steps::least_work(ground.typical_step)),
      kept_(turns_kept(std::size_t(timeline.ranks()))),
      courses_(std::size_t(timeline.ranks())),
      sums_(std::size_t(timeline.ranks())) {
  const Nanoseconds from = begin_of(timeline, window.from);
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (!lane || lane->events() == 0) continue;
    courses_[std::size_t(rank)] = std::make_unique<Course>(TurnReader(*lane, window, from, tolerance_));
    course(rank)->latest.resize(kept_);
    expect(rank);
  }
}

void TurnTally::expect(Rank rank) {
  const Turn* turn = course(rank)->reader.next();
  if (turn && turn->is_over()) ends_.push({turn->end, rank});
}

bool TurnTally::advance(std::size_t rank_steps) {
  for (std::size_t looked = 0; looked < rank_steps && !ends_.empty(); ++looked) {
    const Rank rank = ends_.top().rank;
    ends_.pop();
    settle(rank);
    expect(rank);
  }
  return !ends_.empty();
}

const TurnTally::Settled* TurnTally::at(Rank rank, Number number) const {
  const Course& its = *course(rank);
  const bool is_kept = number < its.settled && number + kept_ > its.settled;
  return is_kept ? &its.latest[number % kept_] : nullptr;
}

const Turn* TurnTally::turn(Rank rank, Number number) const {
  if (number == course(rank)->settled) return courses_[std::size_t(rank)]->reader.next();
  const Settled* its = at(rank, number);
  return its ? &its->turn : nullptr;
}

/// Null: what the rank did just before is not known, or not kept.
const TurnTally::Settled* TurnTally::before(Rank rank, Number number) const {
  const Turn* its = turn(rank, number);
  return its && its->joins && number > 0 ? at(rank, number - 1) : nullptr;
}

/// The latest up to then.
std::optional<TurnTally::Post> TurnTally::post_before(Rank rank, Nanoseconds time, Posts posts) const {
  const bool of_rows = posts != Posts::kAll;
  Course& its = *courses_[std::size_t(rank)];
  const Turn* turn = its.reader.next();
  if (turn && turn->post <= time && (turn->works || !of_rows)) return Post{rank, its.settled, turn->post};
  const Settled* latest = its.settled == 0 ? nullptr : at(rank, its.settled - 1);
  if (latest && of_rows) latest = at(rank, latest->first);
  if (!latest) return std::nullopt;
  return Post{rank, of_rows ? latest->first : its.settled - 1, latest->turn.post};
}

bool TurnTally::are_known(Rank rank, const Turn& turn) const {
  bool are_known = ground_.partners.are_known_of(rank, turn.step);
  ground_.partners.for_each_directly(rank, turn.step, timeline_.ranks(), [&](Rank other, Rank, partners::WaitsFor) {
    are_known = are_known && course(other);
  });
  return are_known;
}

/// That post, or one before it that such a wait may be for: who never waits may be some steps ahead. Rows may be numbered
/// otherwise in the first step, or where a rank was disturbed between two calls: one step more is no sign of it.
std::optional<TurnTally::Post> TurnTally::due(Post post, Rank rank, const Turn& wait) const {
  const Habit* known = habit(rank, wait, post.rank);
  const Turn* its = turn(post.rank, post.number);
  while (known && its && its->posted_in > wait.posted_in + known->later + 1) {
    if (post.number == 0) return std::nullopt;
    const Settled* earlier = at(post.rank, post.number - 1);
    earlier = earlier ? at(post.rank, earlier->first) : nullptr;
    if (!earlier) return std::nullopt;
    post.number = earlier->first, post.at = earlier->turn.post;
    its = &earlier->turn;
  }
  return post;
}

/// The latest post of its partners while it waited; nobody: there is none.
TurnTally::Post TurnTally::ended_by(Rank rank, const Settled& settled, Posts posts) const {
  const Turn& turn = settled.turn;
  Post last;
  const auto look_at = [&](Rank other, Rank, partners::WaitsFor what) {
    if (!course(other)) return;
    const auto is_latest = [&](const std::optional<Post>& post) {
      return post && post->at > turn.post && post->at > last.at;
    };
    auto post = post_before(other, turn.end, posts);
    if (!post || post->at <= turn.post) post = post_before(other, turn.end + kClocksOff, posts);
    if (is_latest(post) && posts == Posts::kDue) post = due(*post, rank, turn);
    if (!is_latest(post)) return;
    post->what = what;
    last = *post;
  };
  ground_.partners.for_each_directly(rank, turn.step, timeline_.ranks(), look_at);
  const bool explains_end = posts != Posts::kDue || last.at >= turn.end - tolerance_;
  return explains_end ? last : Post{};
}

/// Whether a send whose waiting nobody knows of may have waited for a later post than the one that is said to have ended it.
bool TurnTally::is_open(Rank rank, const Turn& turn, const Post& ended_by) const {
  const Nanoseconds since = ended_by.rank < 0 ? turn.post : ended_by.at;
  bool is_open = false;
  ground_.partners.for_each_perhaps(rank, turn.step, timeline_.ranks(), [&](Rank other, partners::WaitsFor what) {
    if (what == partners::WaitsFor::kThroughOthers || !course(other)) return;
    const auto post = post_before(other, turn.end, Posts::kAll);
    is_open = is_open || (post && post->at > since);
  });
  return is_open;
}

void TurnTally::find_end(Rank rank, Settled& settled) {
  settled.ended_by = {}, settled.had_all = false;
  if (settled.turn.with.kind != CallKind::kNotSaid) return find_said_end(rank, settled);
  if (!are_known(rank, settled.turn)) return;
  for (const Posts posts : {Posts::kDue, Posts::kOfRows, Posts::kAll})
    if (settled.ended_by.rank < 0) settled.ended_by = ended_by(rank, settled, posts);
  if (is_open(rank, settled.turn, settled.ended_by)) settled.ended_by = {};
}

void TurnTally::find_said_end(Rank rank, Settled& settled) {
  const Turn& wait = settled.turn;
  bool are_there = true;
  const auto take = [&](Rank other, const std::optional<Post>& post) {
    are_there = are_there && is_there(other);
    if (post && post->at > wait.post && post->at > settled.ended_by.at) settled.ended_by = *post;
  };
  if (wait.with.kind == CallKind::kAll) {
    const Post& last = last_to_come(wait);
    are_there = last.rank >= 0;
    if (are_there && last.rank != rank) take(last.rank, last);
  }
  for_each_sender(wait.with, rank, timeline_.ranks(), [&](Rank from) { take(from, message(from, rank, wait)); });
  if (const Rank to = receiver(wait.with); to >= 0) take(to, receive(to, wait));
  settled.had_all = are_there && settled.ended_by.rank < 0;
}

bool TurnTally::says_what_it_sends(Rank rank, Nanoseconds until) const {
  const std::deque<Sent>& sent = course(rank)->reader.sent();
  return !sent.empty() && sent.front().at <= until;
}

/// The first that went out while `to` waited; where the sender does not say what it sends, when it began its latest row.
std::optional<TurnTally::Post> TurnTally::message(Rank from, Rank to, const Turn& wait) const {
  if (!is_there(from)) return std::nullopt;
  if (!says_what_it_sends(from, wait.end)) {
    auto post = post_before(from, wait.end, Posts::kOfRows);
    if (post) post->what = partners::WaitsFor::kItsMessage;
    return post;
  }
  const std::deque<Sent>& sent = course(from)->reader.sent();
  const Nanoseconds until = wait.end + (timeline_.are_on_one_node(from, to) ? Nanoseconds{0} : kClocksOff);
  for (auto it = std::ranges::upper_bound(sent, wait.post, {}, &Sent::at); it != sent.end() && it->at <= until; ++it)
    if (it->to == to && turn(from, it->turn)) return Post{from, it->turn, it->at, partners::WaitsFor::kItsMessage};
  return std::nullopt;
}

std::optional<TurnTally::Post> TurnTally::receive(Rank by, const Turn& wait) const {
  auto post = is_there(by) ? post_before(by, wait.end, Posts::kOfRows) : std::nullopt;
  if (post) post->what = partners::WaitsFor::kItsReceive;
  return post;
}

/// When that rank came to a meeting of all, as far as it is kept.
std::optional<TurnTally::Post> TurnTally::came_to(Rank rank, const Turn& meeting) const {
  if (!course(rank)) return std::nullopt;
  for (Number number = course(rank)->settled + 1; number-- > 0;) {
    const Turn* its = turn(rank, number);
    if (!its && number != course(rank)->settled) return std::nullopt;
    if (its && its->meeting == meeting.meeting && its->step == meeting.step) return Post{rank, number, its->post};
  }
  return std::nullopt;
}

const TurnTally::Post& TurnTally::last_to_come(const Turn& meeting) {
  for (const Meeting& known : meetings_)
    if (known.step == meeting.step && known.number == meeting.meeting) return known.last;
  if (meetings_.size() == kMeetingsKept) meetings_.pop_back();
  Post& last = meetings_.emplace_front(Meeting{meeting.step, meeting.meeting, {}}).last;
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    const auto came = came_to(rank, meeting);
    if (!came) return last = {};
    if (last.rank < 0 || came->at > last.at) last = *came;
  }
  return last;
}

/// A row of waits goes on as long as it is for others: who answers again has been sent something before.
void TurnTally::join_row(Course& course, Settled& settled) {
  const Number number = course.settled;
  const Settled* before = number == 0 ? nullptr : &course.latest[(number - 1) % kept_];
  const bool goes_on = !settled.turn.works && before;
  if (!goes_on) course.waited_for.clear();
  const Rank rank = settled.ended_by.rank;
  const bool again = rank >= 0 && std::ranges::find(course.waited_for, rank) != course.waited_for.end();
  if (again) course.waited_for.clear();
  if (rank >= 0) course.waited_for.push_back(rank);
  settled.first = goes_on && !again ? before->first : number;
}

Nanoseconds TurnTally::own(const Turn* turn) { return turn && turn->works ? turn->post - turn->begin : Nanoseconds{0}; }

Nanoseconds TurnTally::counted(const Turn& turn, Nanoseconds from, Nanoseconds to) const {
  from = std::max(from, turn.uncounted_before), to = std::min(to, turn.waited - turn.uncounted_behind);
  return std::max(Nanoseconds{0}, to - from);
}

void TurnTally::settle(Rank rank) {
  Course& mine = *course(rank);
  Settled& settled = mine.latest[mine.settled % kept_];
  settled.parts.clear();
  settled.turn = *mine.reader.next();
  find_end(rank, settled);
  join_row(mine, settled);
  explain(rank, settled);
  ++mine.settled;
  mine.reader.pop();
  if (mine.settled > kept_) mine.reader.forget_sent_before(mine.settled - kept_);
}

/// Where nobody's post ended it, a wait that is no short one was for something else.
void TurnTally::explain(Rank rank, Settled& settled) {
  const Turn& turn = settled.turn;
  const Post& late = settled.ended_by;
  const bool is_ended = late.rank >= 0;
  const Nanoseconds until = is_ended ? std::min(late.at, turn.end) : turn.post;
  const Nanoseconds caused = std::clamp(until - turn.post, Nanoseconds{0}, turn.waited), rest = turn.waited - caused;
  settled.transfer = is_ended || settled.had_all || rest <= tolerance_ ? rest : Nanoseconds{0};
  RankCauses& causes = sums_.of(rank);
  causes.waited += counted(turn, Nanoseconds{0}, turn.waited);
  const Nanoseconds messages = counted(turn, turn.waited - settled.transfer, turn.waited);
  causes.transfer += messages, causes.ended.messages += messages;
  Open open{rank, &settled, turn.waited - settled.transfer};
  if (is_ended) {
    if (turn.with.kind == CallKind::kNotSaid) learn(rank, settled);
    const Nanoseconds ended = counted(turn, Nanoseconds{0}, caused);
    if (turn.meeting > 0)
      causes.ended.collectives += ended;
    else
      sums_.add_end(rank, late.what, ended);
    if (follows_from(late, rank, settled))
      explain_in_time(open, late);
    else
      explain_by_turns(open, late);
  }
  take(open, kUnknownCause, open.left, false);
}

/// Null: that one has not ended such a wait yet.
TurnTally::Habit* TurnTally::habit(Rank rank, const Turn& wait, Rank other) const {
  auto& habits = courses_[std::size_t(rank)]->habits;
  const auto found =
      std::ranges::find_if(habits, [&](const Habit& each) { return each.row == wait.row && each.rank == other; });
  return found == habits.end() ? nullptr : &*found;
}

void TurnTally::learn(Rank rank, const Settled& settled) {
  const Post& late = settled.ended_by;
  const Turn& its = *turn(late.rank, late.number);
  const Habit now{settled.turn.row, late.rank, its.row, its.posted_in - settled.turn.posted_in};
  if (Habit* known = habit(rank, settled.turn, late.rank))
    *known = now;
  else
    course(rank)->habits.push_back(now);
}

/// Whether that wait was over only since `rank` had posted that row, or a later one.
bool TurnTally::waited_for_post(Rank waiter, const Turn& wait, Rank rank, Number row) const {
  if (wait.with.kind != CallKind::kNotSaid) return is_said_to_wait_for(waiter, wait, rank, row);
  bool is_for = false;
  ground_.partners.for_each_directly(waiter, wait.step, timeline_.ranks(),
                                     [&](Rank other, Rank, partners::WaitsFor) { is_for = is_for || other == rank; });
  if (!is_for) return false;
  const Habit* known = habit(waiter, wait, rank);
  const Turn* its = turn(rank, row);
  return !known || std::pair(wait.posted_in + known->later, known->its_row) >= std::pair(its->posted_in, its->row);
}

bool TurnTally::is_said_to_wait_for(Rank waiter, const Turn& wait, Rank rank, Number row) const {
  std::optional<Post> post;
  if (wait.meeting > 0) post = came_to(rank, wait);
  for_each_sender(wait.with, waiter, timeline_.ranks(), [&](Rank from) {
    if (from == rank) post = message(rank, waiter, wait);
  });
  if (receiver(wait.with) == rank) post = receive(rank, wait);
  return post && post->at > wait.post && post->number >= row;
}

/// Back along the waits that others ended, one after the other, as long as they are later than the rank's own post.
bool TurnTally::leads_back_to(const Post& late, Rank rank, const Settled& settled) const {
  Rank on = late.rank;
  Number number = late.number;
  for (int hops = 0; hops < kMostHops; ++hops) {
    const Settled* wait = before(on, number);
    if (!wait || wait->turn.end <= settled.turn.post) return false;
    const Post& ended_by = wait->ended_by;
    on = ended_by.rank < 0 ? on : ended_by.rank;
    number = ended_by.rank < 0 ? wait->first : ended_by.number;
    if (on == rank) return number == settled.first;
  }
  return false;
}

/// The late one could do its part only when this rank had posted: so nothing of what this one did before went on beside it.
bool TurnTally::follows_from(const Post& late, Rank rank, const Settled& settled) const {
  if (!turn(rank, settled.first)) return false;
  const Settled* wait = before(late.rank, late.number);
  for (Number number = late.number; wait && wait->turn.end > settled.turn.post; wait = before(late.rank, --number))
    if (waited_for_post(late.rank, wait->turn, rank, settled.first)) return true;
  return leads_back_to(late, rank, settled);
}

/// The end of the way on which the late one came to its post, back to when this rank posted.
void TurnTally::explain_in_time(Open& open, const Post& late) {
  Nanoseconds its_own = late.at - turn(late.rank, late.number)->begin;
  for (Number number = late.number;; --number) {
    take(open, late.rank, its_own, true);
    const Settled* wait = before(late.rank, number);
    if (!wait || open.left <= Nanoseconds{0}) return;
    take_wait(open, *wait, wait->transfer);
    its_own = own(&wait->turn);
  }
}

/// The same, as far as that way was longer than this rank's own: turn by turn. Before its first one it has done nothing.
void TurnTally::explain_by_turns(Open& open, const Post& late) {
  const Nanoseconds since = open.into->turn.post;
  const Settled* mine = open.into;
  const Turn* its = turn(late.rank, late.number);
  Nanoseconds its_own = late.at - its->begin;
  for (Number number = late.number; open.left > Nanoseconds{0}; --number) {
    if (its->works) {
      const Turn* row = mine ? turn(open.rank, mine->first) : nullptr;
      if (mine && !row) return;
      take(open, late.rank, std::max(Nanoseconds{0}, its_own - own(row)), true);
      if (row && row->joins && !before(open.rank, mine->first)) return;
      mine = row ? before(open.rank, mine->first) : nullptr;
    }
    const Settled* wait = before(late.rank, number);
    if (!wait || (!mine && wait->turn.end <= since)) return;
    take_wait(open, *wait, std::max(Nanoseconds{0}, wait->transfer - (mine ? mine->transfer : Nanoseconds{0})));
    its = &wait->turn;
    its_own = own(its);
  }
}

void TurnTally::take_wait(Open& open, const Settled& wait, Nanoseconds transfer) {
  take(open, kTransfer, transfer, false);
  for (const Part& part : wait.parts) take(open, part.rank, part.length, false);
}

void TurnTally::take(Open& open, Rank cause, Nanoseconds length, bool direct) {
  length = std::min(length, open.left);
  if (length <= Nanoseconds{0}) return;
  auto& parts = open.into->parts;
  if (!parts.empty() && parts.back().rank == cause)
    parts.back().length += length;
  else
    parts.push_back({cause, length});
  sums_.add(open.rank, cause, counted(open.into->turn, open.left - length, open.left), direct);
  open.left -= length;
}

}  // namespace idlewave::analysis::causes
