#include "monitor/analysis/partners/unlike_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "probe/mpi/calls.h"

namespace idlewave::analysis::partners {
namespace {

using timeline::Lane;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// Of each rank, evenly over its steps; of them so many have to tell.
constexpr std::size_t kMoments = 32, kFewestMoments = 8;
/// Whoever was too far ahead in half of them is so until it is in a quarter.
constexpr std::size_t kOfMomentsStill = 4;
/// Of each rank.
constexpr std::size_t kMostAwaited = 16;
/// Beyond a cycle: messages may be received some steps after they were sent.
constexpr std::size_t kStepsAhead = 3;
constexpr Rank kMostRanks = 1000;  // Of more some, evenly, so that no look takes long.
/// So many times the steps of another one, where nobody says who waits for whom.
constexpr Step kTimesAhead = 4;

/// Of so many ranks some, evenly.
std::vector<Rank> some_of(Rank ranks) {
  const auto count = std::min(std::int64_t(ranks), std::int64_t(kMostAwaited));
  std::vector<Rank> some;
  for (std::int64_t i = 0; i < count; ++i) some.push_back(Rank(i * ranks / count));
  return some;
}

/// In any step of its cycle; where there are many, some.
std::vector<Rank> awaited_by(Rank rank, const timeline::DeclaredWaits& said, Rank ranks) {
  std::vector<Rank> awaited;
  for (const auto& step : said.cycle->steps) {
    for (const std::uint32_t number : step) {
      const wire::WaitPattern& pattern = said.patterns[number];
      if (pattern.collective && pattern.from.empty()) return some_of(ranks);
      for (const Rank offset : pattern.from) awaited.push_back(Rank(((rank + offset) % ranks + ranks) % ranks));
    }
  }
  std::ranges::sort(awaited);
  awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
  std::vector<Rank> some;
  for (const Rank place : some_of(Rank(awaited.size()))) some.push_back(awaited[std::size_t(place)]);
  return some;
}

/// The largest number that a rank may have come to at a moment; nothing where it was not there yet, has not told of a step
/// since, or begun another program.
std::optional<Step> latest_at(const Lane& lane, Nanoseconds at) {
  if (at < lane.first()) return std::nullopt;
  const auto steps = lane.steps();
  const std::size_t begun = lane.steps_begun_before(at + Nanoseconds{1});
  if (begun == steps.size()) return std::nullopt;
  const Step next = steps[begun].step;
  if (begun > 0 && next <= steps[begun - 1].step) return std::nullopt;
  return next - 1;
}

/// How often a rank was too far ahead of another one.
class Lead {
 public:
  /// `ahead`: by so many steps it can be. `times`: and by so many times the number of the other one's steps.
  Lead(const Lane& lane, Rank rank, std::size_t ahead, Step times = 1)
      : lane_(lane), rank_(rank), ahead_(ahead), times_(times) {}

  /// Nothing where it was so for less than one in `of` of the moments at which that could be told.
  std::optional<UnlikeCounts> over(const Lane& other, Rank behind, Nanoseconds clock_error, std::size_t of = 2) const {
    std::optional<UnlikeCounts> latest;
    std::size_t looked = 0, too_far = 0;
    const std::size_t steps = lane_.steps().size();
    for (std::size_t moment = 0; moment < kMoments && steps > ahead_; ++moment) {
      const std::size_t place = ahead_ + moment * (steps - ahead_) / kMoments;
      const timeline::StepRecord mine = lane_.steps()[place], before = lane_.steps()[place - ahead_];
      const auto its = latest_at(other, mine.begin + clock_error);
      if (!its || before.step >= mine.step) continue;
      ++looked;
      if (before.step <= *its || mine.step / times_ < *its) continue;
      ++too_far;
      latest = {.at = mine.begin,
                .rank = rank_,
                .step = mine.step,
                .behind = behind,
                .its_step = *its,
                .may_be_ahead = ahead_};
    }
    return too_far >= kFewestMoments && of * too_far > looked ? latest : std::nullopt;
  }

 private:
  const Lane& lane_;
  Rank rank_;
  std::size_t ahead_;
  Step times_;
};

/// It waits for the rank that is so far away, round the ring.
bool names(const wire::WaitPattern& pattern, Rank offset, Rank ranks) {
  return std::ranges::any_of(pattern.from, [&](Rank from) { return (from - offset) % ranks == 0; });
}

bool waits_in_each_step(const Timeline& timeline, Rank rank, Rank other) {
  const auto said = timeline.declared_waits(rank);
  return said && std::ranges::all_of(said->cycle->steps, [&](const auto& step) {
           return std::ranges::any_of(step, [&](std::uint32_t number) {
             return names(said->patterns[number], other - rank, timeline.ranks());
           });
         });
}

/// A master takes as many steps as its workers together: some wait for it in each of theirs, and it not for all of these in each.
bool is_master(const Timeline& timeline, Rank rank) {
  int workers = 0, left_out = 0;
  for (const Rank other : some_of(timeline.ranks())) {
    if (other == rank || !waits_in_each_step(timeline, other, rank)) continue;
    ++workers;
    left_out += !waits_in_each_step(timeline, rank, other);
  }
  return workers > 1 && left_out > 0;
}

std::optional<UnlikeCounts> find_ahead(const Timeline& timeline, Rank rank) {
  const Lane* lane = timeline.lane(rank);
  const auto said = timeline.declared_waits(rank);
  if (!lane || !said) return std::nullopt;
  const Lead lead(*lane, rank, said->cycle->steps.size() + kStepsAhead);
  for (const Rank awaited : awaited_by(rank, *said, timeline.ranks())) {
    const Lane* other = awaited == rank ? nullptr : timeline.lane(awaited);
    const auto clock_error = timeline.clock_error(rank, awaited);
    if (!other || !clock_error) continue;
    auto found = lead.over(*other, awaited, *clock_error);
    if (!found) continue;
    if (is_master(timeline, rank)) return std::nullopt;
    found->is_awaited = true;
    return found;
  }
  return std::nullopt;
}

bool names_nobody(const wire::WaitPattern& pattern) {
  const bool may_wait_for_receivers = (pattern.rendezvous || pattern.uncertain) && !pattern.to.empty();
  return !pattern.collective && pattern.from.empty() && !may_wait_for_receivers;
}

/// It does not say whom it waits for, or that it waits for nobody.
bool names_nobody(const Timeline& timeline, Rank rank) {
  const auto said = timeline.declared_waits(rank);
  if (!said) return true;
  return std::ranges::all_of(said->cycle->steps, [&](const auto& step) {
    return std::ranges::all_of(step, [&](std::uint32_t number) { return names_nobody(said->patterns[number]); });
  });
}

/// The rank that is farthest ahead of those who name nobody whom they wait for, if it is too far ahead of the last of them.
/// Ranks that wait for one another in any way are not apart by as many steps as there are ranks. Who names somebody is none
/// of them: a master has taken as many steps as its workers together, who wait for it.
class NamingNobody {
 public:
  explicit NamingNobody(const Timeline& timeline) : timeline_(timeline) {}

  void look_at(Rank rank) {
    const Lane* lane = timeline_.lane(rank);
    // Who has told of nothing for most of the run may have ended.
    if (!lane || lane->steps().empty() || !names_nobody(timeline_, rank)) return;
    const timeline::StepRecord latest = lane->steps().back();
    if (latest.begin - timeline_.begin() < (timeline_.now() - timeline_.begin()) / 2) return;
    if (first_.rank < 0 || latest.step > first_.step) first_ = {rank, latest.step};
    if (last_.rank < 0 || latest.step < last_.step) last_ = {rank, latest.step};
  }

  std::optional<UnlikeCounts> found() const {
    if (first_.rank == last_.rank) return std::nullopt;
    const auto clock_error = timeline_.clock_error(first_.rank, last_.rank);
    if (!clock_error) return std::nullopt;
    const Lead lead(*timeline_.lane(first_.rank), first_.rank, std::size_t(timeline_.ranks()) + kStepsAhead,
                    kTimesAhead);
    return lead.over(*timeline_.lane(last_.rank), last_.rank, *clock_error);
  }

 private:
  struct Place {
    Rank rank = -1;  ///< Nobody.
    Step step = 0;
  };

  const Timeline& timeline_;
  Place first_, last_;
};

/// How often all ranks have called some collective, each of them as often: the largest such number.
std::uint64_t meetings_of_all(const Timeline& timeline) {
  const auto& all = timeline.calls().all();
  if (timeline.calls().is_cut() || all.size() != std::size_t(timeline.ranks())) return 0;
  std::map<std::string_view, std::uint64_t> alike;  // of those whom all ranks before have called as often
  for (const wire::FunctionSums& sums : all.begin()->second.functions) alike[sums.name] = sums.calls;
  for (const auto& [rank, calls] : all) {
    std::map<std::string_view, std::uint64_t> its;
    for (const wire::FunctionSums& sums : calls.functions) its[sums.name] = sums.calls;
    std::erase_if(alike, [&](const auto& one) { return its[one.first] != one.second; });
  }
  std::uint64_t most = 0;
  for (const mpi::CallInfo& call : mpi::calls())
    if (const auto found = alike.find(call.name); call.is_collective && found != alike.end())
      most = std::max(most, found->second);
  return most;
}

/// A rank that tells of no steps any more, and another one that goes on with what it counts. A worker that has ended is none,
/// nor is a master ahead of those who work: all must have met as often as the first has begun a step.
class LeftBehind {
 public:
  explicit LeftBehind(const Timeline& timeline) : timeline_(timeline) {}

  void look_at(Rank rank) {
    const Lane* lane = timeline_.lane(rank);
    if (!lane || lane->steps().empty()) return;
    const Step latest = lane->steps().back().step;
    if (first_ < 0 || latest > latest_of(first_).step) first_ = rank;
    if (last_ < 0 || latest < latest_of(last_).step) last_ = rank;
  }

  std::optional<UnlikeCounts> found() const {
    if (first_ == last_) return std::nullopt;
    const timeline::StepRecord first = latest_of(first_), last = latest_of(last_);
    if (first.step <= last.step + timeline_.ranks() + Step(kStepsAhead) || first.step / kTimesAhead < last.step)
      return std::nullopt;
    const Lane& lane = *timeline_.lane(first_);
    if (2 * lane.steps_begun_before(last.begin) > lane.steps().size()) return std::nullopt;
    if (meetings_of_all(timeline_) < std::uint64_t(first.step)) return std::nullopt;
    return UnlikeCounts{
        .at = first.begin, .rank = first_, .step = first.step, .behind = last_, .its_step = last.step, .has_met = true};
  }

 private:
  timeline::StepRecord latest_of(Rank rank) const { return timeline_.lane(rank)->steps().back(); }

  const Timeline& timeline_;
  Rank first_ = -1, last_ = -1;  ///< By their number of steps; nobody.
};

}  // namespace

std::optional<UnlikeCounts> find_unlike_counts(const Timeline& timeline) {
  const Rank stride = std::max<Rank>(1, timeline.ranks() / kMostRanks);
  NamingNobody naming_nobody(timeline);
  LeftBehind left_behind(timeline);
  for (Rank rank = 0; rank < timeline.ranks(); rank += stride) {
    if (auto found = find_ahead(timeline, rank)) return found;
    naming_nobody.look_at(rank);
    left_behind.look_at(rank);
  }
  const auto found = naming_nobody.found();
  return found ? found : left_behind.found();
}

std::optional<UnlikeCounts> still_unlike(const Timeline& timeline, const UnlikeCounts& before) {
  const Lane *lane = timeline.lane(before.rank), *other = timeline.lane(before.behind);
  const auto clock_error = timeline.clock_error(before.rank, before.behind);
  if (!lane || !other || !clock_error) return std::nullopt;
  const Lead lead(*lane, before.rank, before.may_be_ahead, before.is_awaited ? 1 : kTimesAhead);
  auto found = lead.over(*other, before.behind, *clock_error, kOfMomentsStill);
  if (found) found->is_awaited = before.is_awaited;
  return found;
}

std::string to_words(const UnlikeCounts& counts) {
  return fmt::format(
      "ranks count steps differently: when rank {} began step {}, rank {}{} had come to step {}: no waves, no causes "
      "by step; name the step with --step-at or MPI_Pcontrol(1)",
      counts.rank, counts.step, counts.behind,
      counts.is_awaited ? ", which it waits for,"
      : counts.has_met  ? ", which it meets as often in collectives,"
                        : "",
      counts.its_step);
}

}  // namespace idlewave::analysis::partners
