// Whom ranks wait for as they say it, part by part of a run.

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "monitor/analysis/partners/declared_partners.h"
#include "monitor/analysis/partners/stretches.h"

namespace idlewave::analysis::partners {
namespace {

using timeline::DeclaredWaits;
using timeline::Timeline;
using wire::Rank;

/// Of steps that differ. Where ranks have cycles that come together only later, a step is taken to wait for all that its
/// cycle waits for.
constexpr std::size_t kMostKinds = 64;
/// Of the budget, for each offset that is more than ranks that were heard may have: at most a quarter of it, as an offset
/// takes up to four numbers until it is known who waits for whom.
constexpr std::uint64_t kBudgetForOffset = 4 * 4 * sizeof(Rank);
/// What a wait takes until waits are composed, whether anybody is awaited in it or not.
constexpr std::size_t kOffsetsOfWait = 4;
/// Of a run, in which ranks wait for others; ranks learn of a new part at steps of their own, a few apart. So many however
/// many ranks there are, and as many as let all of them be read at once, which takes some 10 ms.
constexpr std::size_t kFewestParts = 8, kMostRankParts = std::size_t{1} << 15;
/// The same of kinds of steps, each of which is composed of what all ranks do: some 100 ms.
constexpr std::size_t kMostRankKinds = std::size_t{1} << 16;
using WaitsOfStep = std::vector<std::uint32_t>;

/// What those who follow each of the cycles do in a step.
using StepOfAll = std::vector<const WaitsOfStep*>;

struct ByWhatTheyDo {
  bool operator()(const StepOfAll& a, const StepOfAll& b) const {
    return std::ranges::lexicographical_compare(a, b, [](const auto* one, const auto* other) { return *one < *other; });
  }
};

StepOfAll step_of_all(const std::map<const wire::WaitCycle*, DeclaredWaits>& cycles, std::size_t kind,
                      std::size_t kinds) {
  static const WaitsOfStep kNothing;
  StepOfAll step;
  for (const auto& [cycle, said] : cycles) {
    const bool has_its_place = kinds % cycle->steps.size() == 0;
    step.push_back(has_its_place ? &cycle->steps[kind % cycle->steps.size()] : &kNothing);
  }
  return step;
}

std::size_t heard_lanes(const Timeline& timeline) {
  std::size_t heard = 0;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    heard += lane != nullptr && lane->events() > 0;
  }
  return heard;
}

std::size_t most_stretches(Rank ranks) {
  return std::max(kFewestParts, kMostRankParts / std::size_t(std::max<Rank>(1, ranks))) - 1;
}

std::size_t fewer_stretches(std::size_t than) {
  if (than >= 4 * kFewestParts) return than / 4;
  return than >= kFewestParts ? kFewestParts - 1 : 0;
}

/// Of all ranks in a step.
struct WaitsOfAll {
  std::vector<const Waits*> as_said, if_open_sends_wait;
  bool has_open_sends = false;
  std::size_t most_stages = 0;

  void add(const Waits& said, const Waits& if_sends_wait) {
    as_said.push_back(&said), if_open_sends_wait.push_back(&if_sends_wait);
    has_open_sends = has_open_sends || said.has_open_sends;
    most_stages = std::max(most_stages, said.stages.size());
  }
};

/// Those that each rank waits for besides, if open sends wait.
PerRank<Ways> besides(const PerRank<Ways>& awaited, const ComposedStep& if_they_wait, Rank ranks) {
  PerRank<Ways> more(static_cast<std::size_t>(ranks));
  const auto add = [&](Rank rank, Way way) {
    const auto& known = awaited[std::size_t(rank)].ways;
    if (!std::ranges::binary_search(known, way.offset, {}, &Way::offset))
      more.of(std::size_t(rank)).ways.push_back(way);
  };
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (const Way& way : if_they_wait.awaited[std::size_t(rank)].ways) add(rank, way);
    if (!if_they_wait.all_meet) continue;
    const auto& direct = if_they_wait.directly[std::size_t(rank)].ways;
    for (Rank other = 0; other < ranks; ++other) {
      const Rank offset = shorter_way(other - rank, ranks);
      const auto way = std::ranges::lower_bound(direct, offset, {}, &Way::offset);
      if (way != direct.end() && way->offset == offset)
        add(rank, *way);
      else if (other != rank)
        add(rank, {offset, 1, WaitsFor::kThroughOthers});
    }
  }
  return more;
}

}  // namespace

class RankPartners::Reader {
 public:
  Reader(const SaidWaits& all, std::span<const StepWaits> others, std::size_t most_kinds);
  /// Null: more than there is room for, or nobody says anything.
  std::shared_ptr<const RankPartners> read(std::span<const StretchOfSteps> stretches);

 private:
  /// A number for all that is said of a step, one for whoever says the same in whatever cycle; 0 is nobody's.
  class StepNumbers {
   public:
    std::uint32_t of(const DeclaredWaits& said, std::size_t kind, std::size_t kinds) {
      const std::size_t length = said.cycle->steps.size();
      std::vector<std::uint32_t>& numbers = of_cycles_[said.cycle];
      if (numbers.empty()) numbers.resize(length + 1);
      std::uint32_t& number = numbers[kinds % length == 0 ? kind % length : length];
      if (number == 0) number = kinds % length == 0 ? of_words(said, said.cycle->steps[kind % length]) : next_++;
      return number;
    }

   private:
    std::uint32_t of_words(const DeclaredWaits& said, const WaitsOfStep& step) {
      std::vector<Rank> words;
      for (const std::uint32_t number : step) {
        const wire::WaitPattern& pattern = said.patterns[number];
        words.push_back(pattern.rendezvous | pattern.collective << 1 | pattern.uncertain << 2);
        for (const auto* offsets : {&pattern.from, &pattern.to}) {
          words.push_back(Rank(offsets->size()));
          words.insert(words.end(), offsets->begin(), offsets->end());
        }
      }
      const auto [known, is_new] = of_words_.try_emplace(std::move(words), next_);
      next_ += is_new;
      return known->second;
    }

    std::uint32_t next_ = 1;
    /// Of their steps, and of all steps at once.
    std::map<const wire::WaitCycle*, std::vector<std::uint32_t>> of_cycles_;
    std::map<std::vector<Rank>, std::uint32_t> of_words_;
  };
  /// What ranks say of a step.
  class Said;
  using Kind = std::optional<std::uint32_t>;  ///< Nothing: there is no room for it.
  bool read_part(wire::Step from, const Said& said);
  Shape shape_of(const Said& said) const;
  Kind kind_of(const Said& said, std::size_t kind, std::size_t kinds, Shape shape);
  bool read_kind(const Said& said, std::size_t kind, std::size_t kinds, Shape shape);
  bool compose_kind(const Said& said, const WaitsOfAll& waits, Shape shape);
  std::size_t most_entries() const;
  void take(std::vector<std::uint32_t> kind_of, std::vector<bool> is_unknown, wire::Step from);

  const SaidWaits& all_;
  const std::span<const StepWaits> others_;
  const std::size_t most_kinds_;
  const Rank ranks_;
  const std::size_t room_;  ///< For entries and lists, whatever ranks are said to be there.
  std::size_t entries_ = 0;
  std::size_t lists_ = 0;  ///< What those of the kinds of steps that were begun take, in offsets.
  bool somebody_says_ = false;
  StepNumbers numbers_;
  /// By shape, and by what each rank says: in whatever part.
  std::map<std::pair<Shape, std::vector<std::uint32_t>>, std::uint32_t> known_kinds_;
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<bool>>, std::uint32_t> known_steps_;
  std::shared_ptr<RankPartners> read_ = std::make_shared<RankPartners>();
};

class RankPartners::Reader::Said {
 public:
  Said(const SaidWaits& all, wire::Step step) : all_(all), by_(std::size_t(all.timeline().ranks())) {
    for (Rank rank = 0; rank < all.timeline().ranks(); ++rank)
      if (const auto its = all.by(rank, step)) by_.of(std::size_t(rank)) = *its;
  }
  std::optional<DeclaredWaits> by(Rank rank) const {
    const DeclaredWaits& its = by_[std::size_t(rank)];
    return its.cycle != nullptr ? std::optional(its) : std::nullopt;
  }
  bool is_there(Rank rank) const { return all_.timeline().lane(rank) != nullptr; }

 private:
  const SaidWaits& all_;
  PerRank<DeclaredWaits> by_;
};

RankPartners::Reader::Reader(const SaidWaits& all, std::span<const StepWaits> others, std::size_t most_kinds)
    : all_(all),
      others_(others),
      most_kinds_(most_kinds),
      ranks_(all.timeline().ranks()),
      room_(std::max(2 * kMostForEach * heard_lanes(all.timeline()) + kMostForAll,
                     std::size_t(all.timeline().budget() / kBudgetForOffset))) {
  read_->ranks_ = ranks_;
}

std::shared_ptr<const RankPartners> RankPartners::Reader::read(std::span<const StretchOfSteps> stretches) {
  const wire::Step before = stretches.empty() ? all_.timeline().latest_step() : stretches.front().first - 1;
  if (!read_part(0, {all_, before})) return nullptr;
  for (const StretchOfSteps& stretch : stretches)
    if (!read_part(stretch.first, {all_, stretch.last})) return nullptr;
  if (!somebody_says_) return nullptr;
  read_->sum_up();
  return read_;
}

bool RankPartners::Reader::read_part(wire::Step from, const Said& said) {
  std::size_t kinds = 1;
  std::map<const wire::WaitCycle*, DeclaredWaits> cycles;
  std::vector<bool> is_unknown;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const auto its = said.by(rank);
    is_unknown.push_back(!its && said.is_there(rank) && (others_.empty() || others_[std::size_t(rank)].empty()));
    if (!its) continue;
    cycles.emplace(its->cycle, *its);
    const std::size_t together = std::lcm(kinds, its->cycle->steps.size());
    if (together <= kMostKinds) kinds = together;
  }
  somebody_says_ = somebody_says_ || !cycles.empty();
  const Shape shape = shape_of(said);
  // Most steps of a cycle are alike.
  std::map<StepOfAll, Kind, ByWhatTheyDo> known;
  std::vector<std::uint32_t> kind_of_step;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto [place, is_new] = known.try_emplace(step_of_all(cycles, kind, kinds));
    if (is_new) place->second = kind_of(said, kind, kinds, shape);
    if (!place->second) return false;
    kind_of_step.push_back(*place->second);
  }
  take(std::move(kind_of_step), std::move(is_unknown), from);
  return true;
}

/// As a part of the run that is, for as long as that is so, like others.
void RankPartners::Reader::take(std::vector<std::uint32_t> kind_of, std::vector<bool> is_unknown, wire::Step from) {
  const auto [known, is_new] =
      known_steps_.try_emplace({std::move(kind_of), std::move(is_unknown)}, std::uint32_t(read_->steps_.size()));
  if (is_new) read_->steps_.push_back({known->first.first, known->first.second, {}});
  if (read_->parts_.empty() || read_->parts_.back().steps != known->second)
    read_->parts_.push_back({from, known->second});
}

/// A ring where nothing tells.
Shape RankPartners::Reader::shape_of(const Said& said) const {
  std::map<const wire::WaitCycle*, OffsetSpan> spans;
  bool is_known = false;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    OffsetSpan span;
    if (const auto its = said.by(rank)) {
      const auto [place, is_new] = spans.try_emplace(its->cycle);
      if (is_new) place->second = span_of(*its, ranks_);
      span = place->second;
    } else if (!others_.empty()) {
      span = span_of(others_[std::size_t(rank)], ranks_);
    }
    if (span.goes_across(rank, ranks_)) return Shape::kRing;
    is_known = is_known || !span.is_empty();
  }
  return is_known ? Shape::kChain : Shape::kRing;
}

RankPartners::Reader::Kind RankPartners::Reader::kind_of(const Said& said, std::size_t kind, std::size_t kinds,
                                                         Shape shape) {
  std::vector<std::uint32_t> numbers;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const auto its = said.by(rank);
    if (!its) continue;
    numbers.resize(std::size_t(rank));
    numbers.push_back(numbers_.of(*its, kind, kinds));
  }
  const auto [known, is_new] =
      known_kinds_.try_emplace({shape, std::move(numbers)}, std::uint32_t(read_->kinds_.size()));
  const bool has_room = !is_new || (read_->kinds_.size() < most_kinds_ && read_kind(said, kind, kinds, shape));
  return has_room ? Kind(known->second) : std::nullopt;
}

bool RankPartners::Reader::read_kind(const Said& said, std::size_t kind, std::size_t kinds, Shape shape) {
  struct OfCycle {
    Waits as_said, if_open_sends_wait;
  };
  PerRank<Waits> inferred(static_cast<std::size_t>(ranks_));
  std::map<const wire::WaitCycle*, OfCycle> by_cycle;
  WaitsOfAll all;
  std::size_t stages = 0;
  lists_ += std::size_t(ranks_) / 2;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (const auto its = said.by(rank)) {
      const auto [place, is_new] = by_cycle.try_emplace(its->cycle);
      OfCycle& waits = place->second;
      if (is_new) waits.as_said = waits_of(*its, kind, kinds, ranks_, most_entries());
      const bool is_open = waits.as_said.has_open_sends;
      if (is_new && is_open)
        waits.if_open_sends_wait = waits_of(*its, kind, kinds, ranks_, most_entries(), OpenSends::kWait);
      all.add(waits.as_said, is_open ? waits.if_open_sends_wait : waits.as_said);
    } else {
      if (!others_.empty() && !others_[std::size_t(rank)].empty())
        inferred.of(std::size_t(rank)) = waits_of(others_[std::size_t(rank)], ranks_);
      all.add(inferred[std::size_t(rank)], inferred[std::size_t(rank)]);
    }
    entries_ += all.as_said.back()->entries;
    stages += all.as_said.back()->stages.size();
    if (entries_ > most_entries() || lists_ + entries_ + kOffsetsOfWait * stages > room_) return false;
  }
  return compose_kind(said, all, shape);
}

bool RankPartners::Reader::compose_kind(const Said& said, const WaitsOfAll& waits, Shape shape) {
  auto composed = compose(waits.as_said, shape, most_entries() - entries_);
  if (!composed) return false;
  bool some_meet = false, all_meet = true;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const bool meets = waits.as_said[std::size_t(rank)]->collective;
    some_meet = some_meet || meets;
    all_meet = all_meet && (meets || !said.by(rank));
  }
  KindOfStep& here = read_->kinds_.emplace_back();
  here.has_collectives = some_meet;
  here.has_several_waits = some_meet || waits.most_stages > 1;
  here.collective = composed->all_meet || (some_meet && all_meet);
  here.awaited = Lists::of_all(composed->awaited);
  if (composed->all_meet) here.directly = Lists::of_all(composed->directly);
  entries_ += here.awaited.offsets.size() + here.directly.offsets.size();
  if (waits.has_open_sends && !here.collective) {
    const auto if_they_wait =
        compose(waits.if_open_sends_wait, shape, most_entries() - std::min(most_entries(), entries_));
    if (!if_they_wait) return false;
    here.perhaps = Lists::of_all(besides(composed->awaited, *if_they_wait, ranks_));
    entries_ += here.perhaps.offsets.size();
  }
  composed.reset();
  here.waiters = here.awaited.turned_round();
  return true;
}

std::size_t RankPartners::Reader::most_entries() const {
  const std::size_t most = kMostForEach * std::size_t(ranks_) + kMostForAll;
  return std::min(most, room_ - std::min(room_, lists_));
}

std::shared_ptr<const RankPartners> RankPartners::declared_in(const SaidWaits& said,
                                                              std::span<const StepWaits> others) {
  const std::vector<wire::Step> changes = said.timeline().partner_changes();
  const auto ranks = std::max<Rank>(1, said.timeline().ranks());
  for (std::size_t most = std::min(changes.size(), most_stretches(ranks));; most = fewer_stretches(most)) {
    const std::size_t most_kinds = most < kFewestParts ? SIZE_MAX : kMostRankKinds / std::size_t(ranks);
    auto partners = Reader(said, others, most_kinds).read(stretches_of(changes, most));
    if (partners || most == 0) return partners;
  }
}

}  // namespace idlewave::analysis::partners
