#include "monitor/analysis/partners.h"

#include <algorithm>

namespace idlewave::analysis {
namespace {

using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// Share of telling steps in which jitter may make a partner look like none.
constexpr double kViolations = 0.1;
/// Of a step: how much earlier than its partner's post a wait may seem to end.
constexpr double kTolerance = 0.02;
/// Of a step: a rank that posts so much later than another tells whether that one waits for it.
constexpr double kLate = 0.25;
/// Times as far as the nearest partner.
constexpr Rank kNear = 3;
constexpr std::size_t kMostMoments = 8;
constexpr Step kMostSteps = 512;
/// Of fewer ranks the neighbours' neighbours may be everybody.
constexpr std::size_t kFewestTogether = 8;
/// Of the steps in which somebody was late.
constexpr double kCollective = 0.9;
/// About a late one.
constexpr Rank kMostRanks = 512;

Nanoseconds share(double of, Nanoseconds time) { return Nanoseconds(std::int64_t(of * double(time.count()))); }

}  // namespace

Rank Partners::at(Rank rank, Rank offset, Rank ranks) const {
  const Rank other = rank + offset;
  if (other >= 0 && other < ranks) return other;
  const Rank round = ((other % ranks) + ranks) % ranks;
  return ring && round != rank ? round : -1;
}

PartnerSearch::PartnerSearch(Rank ranks, Nanoseconds typical_step)
    : ranks_(ranks),
      farthest_(std::min(kFarthest, ranks / 2)),
      late_(share(kLate, typical_step)),
      tolerance_(share(kTolerance, typical_step)) {}

bool PartnerSearch::Evidence::speaks_for_it() const {
  return told > 0 && double(violated) <= kViolations * double(told);
}

void PartnerSearch::add(Rank first, std::span<const std::optional<StepCourse>> row) {
  const auto size = Rank(row.size());
  Told& told = told_by(row);
  for (Rank i = 0; i < size; ++i) {
    if (!row[std::size_t(i)]) continue;
    for (Rank offset = -farthest_; offset <= farthest_; ++offset) {
      const Rank other = size == ranks_ ? round(i + offset) : i + offset;
      if (offset == 0 || other < 0 || other >= size || !row[std::size_t(other)]) continue;
      compare(told, round(first + i), offset, *row[std::size_t(i)], *row[std::size_t(other)]);
    }
  }
}

PartnerSearch::Told& PartnerSearch::told_by(std::span<const std::optional<StepCourse>> row) {
  Nanoseconds latest = Nanoseconds::min(), first_end = Nanoseconds::max();
  for (const auto& course : row) {
    if (!course) continue;
    latest = std::max(latest, course->post);
    if (course->over) first_end = std::min(first_end, course->end);
  }
  std::size_t known = 0, early = 0;
  for (const auto& course : row) known += course && course->over, early += course && course->post < latest - late_;
  const bool is_late = 2 * early > known;
  Told& told = is_late && known >= kFewestTogether && first_end >= latest - tolerance_ ? together_ : apart_;
  told.steps += is_late;
  return told;
}

void PartnerSearch::compare(Told& told, Rank rank, Rank offset, const StepCourse& mine, const StepCourse& its) const {
  if (its.post < mine.post + late_) return;
  Evidence& evidence = (rank + offset < 0 || rank + offset >= ranks_ ? told.across : told.inside)[place(offset)];
  ++evidence.told;
  evidence.violated += mine.over && mine.end < its.post - tolerance_;
}

/// As the near partners say, in both directions: of far ones it is said by chance sooner, and a rank at one end of a
/// chain may wait for its own neighbour while the one at the other end is late.
bool PartnerSearch::is_ring(const Told& told, const std::vector<Rank>& offsets) {
  Rank nearest = kFarthest;
  for (const Rank offset : offsets) nearest = std::min(nearest, Rank(std::abs(offset)));
  Evidence across;
  for (const Rank offset : offsets)
    if (std::abs(offset) <= kNear * nearest) across = across + told.across[place(offset)];
  return across.told == 0 || across.speaks_for_it();
}

bool PartnerSearch::is_collective() const {
  return double(together_.steps) > kCollective * double(together_.steps + apart_.steps);
}

std::vector<Rank> PartnerSearch::candidates() const {
  std::vector<Rank> offsets;
  for (Rank offset = -farthest_; offset <= farthest_; ++offset)
    if (telling().inside[place(offset)].speaks_for_it()) offsets.push_back(offset);
  return offsets;
}

Partners PartnerSearch::found(const std::vector<Rank>& offsets) const {
  const Told& told = telling();
  Partners partners{.offsets = {}, .ring = is_ring(told, offsets), .collective = is_collective()};
  for (const Rank offset : offsets)
    if (!partners.ring || (told.inside[place(offset)] + told.across[place(offset)]).speaks_for_it())
      partners.offsets.push_back(offset);
  return partners;
}

PartnerReview::PartnerReview(std::vector<Rank> candidates, Rank ranks, Nanoseconds typical_step)
    : candidates_(std::move(candidates)),
      ranks_(ranks),
      late_(share(kLate, typical_step)),
      tolerance_(share(kTolerance, typical_step)),
      evidence_(candidates_.size()) {}

void PartnerReview::add(Rank first, std::span<const std::optional<StepCourse>> row) {
  const auto size = Rank(row.size());
  for (Rank i = 0; i < size; ++i) {
    if (!row[std::size_t(i)] || !row[std::size_t(i)]->over) continue;
    const Rank rank = (first + i + ranks_) % ranks_;
    posts_.clear();
    for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
      const Rank other = i + candidates_[candidate], its_rank = rank + candidates_[candidate];
      // Whether the ends are neighbours is not known yet.
      if (other < 0 || other >= size || its_rank < 0 || its_rank >= ranks_ || !row[std::size_t(other)]) continue;
      posts_.push_back({candidate, row[std::size_t(other)]->post});
    }
    weigh(*row[std::size_t(i)]);
  }
}

void PartnerReview::weigh(const StepCourse& mine) {
  const Nanoseconds until = mine.end + tolerance_;
  const Post* last = nullptr;
  Nanoseconds before_last = mine.post + late_ - tolerance_;
  for (const Post& post : posts_) {
    if (post.at > until) {
      evidence_[post.candidate].violated += post.at >= mine.post + late_;
    } else if (!last || post.at > last->at) {
      if (last) before_last = std::max(before_last, last->at);
      last = &post;
    } else {
      before_last = std::max(before_last, post.at);
    }
  }
  if (last && last->at >= before_last + tolerance_) ++evidence_[last->candidate].confirmed;
}

std::vector<Rank> PartnerReview::upheld() const {
  std::vector<Rank> offsets;
  for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate)
    if (evidence_[candidate].violated <= evidence_[candidate].confirmed) offsets.push_back(candidates_[candidate]);
  return offsets;
}

Partners infer_partners(const Timeline& timeline, std::span<const LateMoment> moments, Nanoseconds typical_step) {
  const Rank ranks = timeline.ranks();
  std::vector<std::optional<StepCourse>> row(std::size_t(std::min(ranks, kMostRanks)));
  return find_partners(ranks, typical_step, [&](const auto& visit) {
    for (const LateMoment& moment : moments.last(std::min(kMostMoments, moments.size()))) {
      const Rank first = ranks <= kMostRanks ? 0 : moment.rank - kMostRanks / 2;
      const Step steps = std::min<Step>(kMostSteps, ranks + PartnerSearch::kFarthest);
      for (Step step = moment.step; step < moment.step + steps; ++step) {
        for (std::size_t i = 0; i < row.size(); ++i)
          row[i] = step_course(timeline, (first + Rank(i) + ranks) % ranks, step, moment.at);
        if (std::ranges::none_of(row, [](const auto& course) { return course.has_value(); })) break;
        visit(first, row);
      }
    }
  });
}

}  // namespace idlewave::analysis
