#include "monitor/analysis/domains/domain_signs.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "monitor/analysis/domains/concurrency.h"
#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis::domains {
namespace {

/// Times that vary by less than this share of themselves tell nothing.
constexpr double kSteady = 0.02;

double spread_of(const NewestRounds& rounds, Nanoseconds typical, std::vector<double>& values) {
  values.clear();
  for (std::size_t i = 0; i < rounds.size(); ++i)
    values.push_back(double((rounds[i].last_begin - rounds[i].first_begin).count()) / double(typical.count()));
  return median(std::span(values));
}

/// While all members are inside these rounds.
Window whole_window(const NewestRounds& rounds) { return {rounds.oldest().last_begin, rounds[0].first_end}; }

/// What the domain gets done in the rounds' work, from change to change.
class Done {
 public:
  explicit Done(const Bandwidth& bandwidth) : rates_(bandwidth) {}

  Progress at(Nanoseconds time) { return done_.later_by(double((time - since_).count()), rates_.of(active_)); }
  void go_to(const WorkChange& change) {
    done_ = at(change.at);
    since_ = change.at;
    active_ += change.begins ? 1 : -1;
  }
  double alone() const { return done_.alone; }

 private:
  Rates rates_;
  Progress done_;
  Nanoseconds since_{};
  int active_ = 0;
};

/// What is done in the window; `alone`: how long each member's work would have taken alone in each round.
Progress integrate(const NewestRounds& rounds, const Bandwidth& bandwidth, Window window, std::vector<double>& alone) {
  alone.assign(rounds.size() * rounds.members(), 0);
  Done done(bandwidth);
  Progress before, until;
  bool has_begun = false, has_ended = false;
  for (const WorkChange& change : rounds.all().changes()) {
    const std::size_t place = rounds.place(change);
    if (place >= rounds.size()) continue;
    if (!has_begun && change.at > window.from) before = done.at(window.from), has_begun = true;
    if (!has_ended && change.at > window.to) until = done.at(window.to), has_ended = true;
    done.go_to(change);
    alone[place * rounds.members() + change.member] += change.begins ? -done.alone() : done.alone();
  }
  if (!has_begun) before = done.at(window.from);
  if (!has_ended) until = done.at(window.to);
  return until.later_by(-1, before);
}

/// Below 1 where ranks took longer where more of them were at work, and not otherwise: by the work inside `window`.
double unshared_in(const NewestRounds& rounds, Window window, SignsRoom& room) {
  std::vector<double>&took = room.values, &alone = room.more_values;
  took.clear(), alone.clear();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const auto steps = rounds.of(i);
    for (std::size_t member = 0; member < steps.size(); ++member) {
      const Window work = steps[member].work();
      if (work.from < window.from || work.to > window.to) continue;
      took.push_back(double(work.length().count()));
      alone.push_back(room.alone[i * steps.size() + member]);
    }
  }
  if (took.empty()) return std::numeric_limits<double>::infinity();
  const double varies = variation(alone);
  return varies <= kSteady ? 0 : varies / variation(took);
}

/// Mean over rounds of what remains of waiting for the member that waits least: time that lockstep would take as well.
double least_wait(const NewestRounds& rounds) {
  double sum = 0;
  for (std::size_t i = 0; i < rounds.size(); ++i) sum += double(rounds[i].least_wait.count());
  return sum / double(rounds.size());
}

/// How far work is relieved of contention: all that the domain moved in `window` would have taken its `members` longer in
/// lockstep, all at work at the same time. With no more than `saturation` at work at a time the shorter time is
/// saturation / members of that.
double relief(const Progress& progress, const Bandwidth& bandwidth, double members, double saturation, Window window,
              double steps, double wait) {
  const double in_lockstep = progress.volume / (bandwidth(int(members)) * 1e-9);
  if (in_lockstep <= 0) return 0;
  const double active = progress.rank_time / double(window.length().count());
  if (active >= members * in_lockstep / (in_lockstep + steps * wait)) return 0;
  return (1 - progress.rank_time / members / in_lockstep) / (1 - saturation / members);
}

double ratio(double work, double usual) { return usual > 0 ? work / usual : 1; }

/// How many times as long as the median member's its work took in a round.
double took(const NewestRounds& rounds, std::size_t i, std::size_t member) {
  return ratio(double(rounds.of(i)[member].work().length().count()), rounds[i].usual_work);
}

/// That some member's work took, by the median over the rounds, more than `least` times as long as is usual.
bool is_somebody_slow(const NewestRounds& rounds, double least) {
  const std::size_t most = rounds.size() / 2;  // of others, below the median
  for (std::size_t member = 0; member < rounds.members(); ++member) {
    std::size_t slow = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i) slow += took(rounds, i, member) > least;
    if (slow >= rounds.size() - most) return true;
  }
  return false;
}

/// Medians over the members, round by round.
void find_usual_alone(const NewestRounds& rounds, SignsRoom& room) {
  room.usual_alone.clear();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const auto row = std::span(room.alone).subspan(i * rounds.members(), rounds.members());
    room.values.assign(row.begin(), row.end());
    room.usual_alone.push_back(median(std::span(room.values)));
  }
}

/// How much longer than the median member it works, by whichever measure says less: the time, or the time alone.
double slowness_of(const NewestRounds& rounds, std::size_t member, SignsRoom& room) {
  room.values.clear(), room.more_values.clear();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    room.values.push_back(took(rounds, i, member));
    room.more_values.push_back(ratio(room.alone[i * rounds.members() + member], room.usual_alone[i]));
  }
  return std::min(median(std::span(room.values)), median(std::span(room.more_values)));
}

void find_slowest(const NewestRounds& rounds, Signs& signs, SignsRoom& room) {
  find_usual_alone(rounds, room);
  for (std::size_t member = 0; member < rounds.members(); ++member) {
    const double slowness = slowness_of(rounds, member, room);
    if (slowness > signs.slowness) {
      signs.next_slowness = std::exchange(signs.slowness, slowness);
      signs.slowest = int(member);
    } else {
      signs.next_slowness = std::max(signs.next_slowness, slowness);
    }
  }
}

}  // namespace

Signs find_signs(const NewestRounds& rounds, const wire::DomainInfo& info, Nanoseconds typical, const LeastSigns& least,
                 SignsRoom& room) {
  Signs signs{.spread = spread_of(rounds, typical, room.values)};
  const Bandwidth bandwidth = bandwidth_of(info);
  const Window window = whole_window(rounds);
  const Progress progress = integrate(rounds, bandwidth, window, room.alone);
  if (window.length() > Nanoseconds{0}) {
    signs.active = progress.rank_time / double(window.length().count());
    const double saturation = saturation_point(info), steps = double(window.length() / typical);
    const auto members = double(rounds.members());
    if (bandwidth && saturation > 0 && members > saturation)
      signs.relieved = relief(progress, bandwidth, members, saturation, window, steps, least_wait(rounds));
    if (signs.relieved > least.relieved) signs.unshared = unshared_in(rounds, window, room);
  }
  if (rounds.members() > 2 && is_somebody_slow(rounds, least.slowness)) find_slowest(rounds, signs, room);
  return signs;
}

}  // namespace idlewave::analysis::domains
