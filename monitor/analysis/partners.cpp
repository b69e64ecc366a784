#include "monitor/analysis/partners.h"

#include <algorithm>
#include <array>

#include "monitor/analysis/step_course.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// Partners are looked for up to this distance.
constexpr Rank kFarthest = 12;
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
/// On either side of a late one.
constexpr Rank kMostRanks = 256;

/// Steps in which a rank posted so late that whoever waits for it must have noticed, and how many of them another went
/// through unmoved.
struct Evidence {
  std::uint64_t told = 0;
  std::uint64_t violated = 0;

  bool speaks_for_it() const { return told > 0 && double(violated) <= kViolations * double(told); }
  Evidence operator+(const Evidence& more) const { return {told + more.told, violated + more.violated}; }
};

/// Evidence for each offset from -kFarthest to kFarthest, without and with going across the ends.
class Search {
 public:
  Search(const Timeline& timeline, Nanoseconds typical_step)
      : timeline_(timeline),
        ranks_(timeline.ranks()),
        late_(std::int64_t(kLate * double(typical_step.count()))),
        tolerance_(std::int64_t(kTolerance * double(typical_step.count()))) {}

  void look_after(const LateMoment& moment) {
    const Step steps = std::min<Step>(kMostSteps, ranks_ + kFarthest);
    for (Step step = moment.step; step < moment.step + steps; ++step) {
      if (!read(moment, step)) return;
      for (std::size_t i = 0; i < row_.size(); ++i) compare(i);
    }
  }

  Partners found() const {
    std::vector<Rank> offsets;
    for (Rank offset = -kFarthest; offset <= kFarthest; ++offset)
      if (inside_[place(offset)].speaks_for_it()) offsets.push_back(offset);
    Partners partners{.offsets = {}, .ring = is_ring(offsets)};
    for (const Rank offset : offsets)
      if (!partners.ring || (inside_[place(offset)] + across_[place(offset)]).speaks_for_it())
        partners.offsets.push_back(offset);
    return partners;
  }

 private:
  static std::size_t place(Rank offset) { return std::size_t(offset + kFarthest); }

  /// As the near partners say, in both directions: of far ones it is said by chance sooner, and a rank at one end of a
  /// chain may wait for its own neighbour while the one at the other end is late.
  bool is_ring(const std::vector<Rank>& offsets) const {
    Rank nearest = kFarthest;
    for (const Rank offset : offsets) nearest = std::min(nearest, Rank(std::abs(offset)));
    Evidence across;
    for (const Rank offset : offsets)
      if (std::abs(offset) <= kNear * nearest) across = across + across_[place(offset)];
    return across.told == 0 || across.speaks_for_it();
  }

  /// The step of the ranks around the late one. False if nobody has come so far.
  bool read(const LateMoment& moment, Step step) {
    const bool all = ranks_ <= 2 * kMostRanks;
    first_ = all ? 0 : moment.rank - kMostRanks;
    row_.assign(std::size_t(all ? ranks_ : 2 * kMostRanks), {});
    bool any = false;
    for (std::size_t i = 0; i < row_.size(); ++i) {
      row_[i] = step_course(timeline_, round(first_ + Rank(i)), step, moment.at);
      any = any || row_[i];
    }
    return any;
  }

  Rank round(Rank rank) const { return ((rank % ranks_) + ranks_) % ranks_; }

  void compare(std::size_t i) {
    const auto& mine = row_[i];
    if (!mine) return;
    const Rank rank = round(first_ + Rank(i));
    for (Rank offset = -kFarthest; offset <= kFarthest; ++offset) {
      const std::ptrdiff_t other = std::ptrdiff_t(i) + offset;
      const bool whole_ring = Rank(row_.size()) == ranks_;
      if (offset == 0 || std::abs(offset) >= ranks_ || (!whole_ring && (other < 0 || other >= std::ssize(row_))))
        continue;
      const auto& its = row_[std::size_t(whole_ring ? round(Rank(other)) : Rank(other))];
      if (!its || its->post < mine->post + late_) continue;
      Evidence& evidence = (rank + offset < 0 || rank + offset >= ranks_ ? across_ : inside_)[place(offset)];
      ++evidence.told;
      evidence.violated += mine->over && mine->end < its->post - tolerance_;
    }
  }

  const Timeline& timeline_;
  Rank ranks_;
  Nanoseconds late_;
  Nanoseconds tolerance_;
  Rank first_ = 0;
  std::vector<std::optional<StepCourse>> row_;
  std::array<Evidence, 2 * kFarthest + 1> inside_, across_;
};

}  // namespace

Rank Partners::at(Rank rank, Rank offset, Rank ranks) const {
  const Rank other = rank + offset;
  if (other >= 0 && other < ranks) return other;
  const Rank round = ((other % ranks) + ranks) % ranks;
  return ring && round != rank ? round : -1;
}

Partners infer_partners(const Timeline& timeline, std::span<const LateMoment> moments, Nanoseconds typical_step) {
  Search search(timeline, typical_step);
  for (const LateMoment& moment : moments.last(std::min(kMostMoments, moments.size()))) search.look_after(moment);
  return search.found();
}

}  // namespace idlewave::analysis
