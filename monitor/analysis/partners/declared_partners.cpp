#include "monitor/analysis/partners/declared_partners.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace idlewave::analysis::partners {
namespace {

using timeline::DeclaredWaits;
using timeline::Timeline;
using wire::Rank;

/// Of steps that differ. Where ranks have cycles that come together only later, a step is taken to wait for all that its
/// cycle waits for.
constexpr std::size_t kMostKinds = 64;
/// So many offsets for each rank, and some: who says more is not followed, however many of them there are.
constexpr std::size_t kMostForEach = 128, kMostForAll = std::size_t{1} << 16;
/// Of the budget, for each offset that is more than ranks that were heard may have: at most a quarter of it, as an offset
/// takes up to four numbers until it is known who waits for whom.
constexpr std::uint64_t kBudgetForOffset = 4 * 4 * sizeof(Rank);
constexpr std::size_t kMostOffsets = 1000;
/// What a wait takes until waits are composed, whether anybody is awaited in it or not.
constexpr std::size_t kOffsetsOfWait = 4;
/// Of a cycle: so many steps with a collective, as where partners are inferred.
constexpr double kCollective = 0.9;
/// Of a run. Ranks learn of a new part at steps of their own, a few apart.
constexpr std::size_t kMostParts = 8;
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

}  // namespace

template <class All>
RankPartners::Lists RankPartners::Lists::of_all(const All& lists) {
  std::size_t entries = 0;
  for (const Ways& list : lists) entries += list.ways.size();
  Lists all;
  all.begins.reserve(lists.size() + 1);
  all.offsets.reserve(entries);
  all.messages.reserve(entries);
  all.what.reserve(entries);
  all.own.reserve(lists.size());
  for (const Ways& list : lists) {
    for (const Way& way : list.ways)
      all.offsets.push_back(way.offset), all.messages.push_back(way.messages), all.what.push_back(way.what);
    all.own.push_back(list.own);
    all.begins.push_back(std::uint32_t(all.offsets.size()));
  }
  return all;
}

RankPartners::Lists RankPartners::Lists::turned_round() const {
  const auto ranks = Rank(begins.size() - 1);
  const auto for_each = [&](auto take) {
    for (Rank rank = 0; rank < ranks; ++rank)
      for (const Rank offset : of(rank)) take(std::size_t((rank + offset + ranks) % ranks), -offset);
  };
  // One place further on than they belong: what is put in moves them there.
  Lists turned{std::vector<std::uint32_t>(begins.size() + 1), std::vector<Rank>(offsets.size()), {}, {}, {}};
  for_each([&](std::size_t rank, Rank) { ++turned.begins[rank + 2]; });
  std::partial_sum(turned.begins.begin(), turned.begins.end(), turned.begins.begin());
  for_each([&](std::size_t rank, Rank offset) { turned.offsets[turned.begins[rank + 1]++] = offset; });
  turned.begins.pop_back();
  return turned;
}

std::span<const Rank> RankPartners::Lists::of(Rank rank) const {
  const auto index = std::size_t(rank);
  return std::span(offsets).subspan(begins[index], begins[index + 1] - begins[index]);
}

std::span<const std::uint8_t> RankPartners::Lists::messages_of(Rank rank) const {
  const auto index = std::size_t(rank);
  return std::span(messages).subspan(begins[index], begins[index + 1] - begins[index]);
}

std::span<const WaitsFor> RankPartners::Lists::what_of(Rank rank) const {
  const auto index = std::size_t(rank);
  return std::span(what).subspan(begins[index], begins[index + 1] - begins[index]);
}

/// Mostly asked for the last one.
const RankPartners::Part& RankPartners::part_of(wire::Step step) const {
  std::size_t part = parts_.size() - 1;
  while (part > 0 && step < parts_[part].from) --part;
  return parts_[part];
}

const RankPartners::KindOfStep& RankPartners::in(wire::Step step) const {
  const std::vector<std::uint32_t>& kind_of = part_of(step).kind_of;
  return kinds_[kind_of[std::size_t(std::max<wire::Step>(step, 0)) % kind_of.size()]];
}

bool RankPartners::is_collective(const Part& part) const {
  const auto is_collective = [&](std::uint32_t kind) { return kinds_[kind].collective; };
  return double(std::ranges::count_if(part.kind_of, is_collective)) > kCollective * double(part.kind_of.size());
}

bool RankPartners::has_collective_steps() const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    return std::ranges::any_of(part.kind_of, [&](std::uint32_t kind) { return kinds_[kind].collective; });
  });
}

bool RankPartners::are_collective() const {
  return std::ranges::all_of(parts_, [&](const Part& part) { return is_collective(part); });
}

std::shared_ptr<const RankPartners> RankPartners::declared_in(const SaidWaits& said,
                                                              std::span<const StepWaits> others) {
  auto partners = std::make_shared<RankPartners>();
  const std::vector<StretchOfSteps> stretches = stretches_of(said.timeline().partner_changes(), kMostParts - 1);
  if (partners->read(said, others, stretches)) return partners;
  // As ranks say it now may still fit.
  *partners = {};
  return !stretches.empty() && partners->read(said, others, {}) ? partners : nullptr;
}

std::shared_ptr<const RankPartners> RankPartners::of(const std::vector<Offsets>& awaited) {
  auto partners = std::make_shared<RankPartners>();
  partners->ranks_ = Rank(awaited.size());
  std::vector<Ways> direct(awaited.size());
  for (std::size_t rank = 0; rank < awaited.size(); ++rank)
    for (const Rank offset : awaited[rank]) direct[rank].ways.push_back({.offset = offset});
  KindOfStep& all = partners->kinds_.emplace_back();
  all.awaited = Lists::of_all(direct);
  all.waiters = all.awaited.turned_round();
  partners->parts_.push_back(
      {.from = 0, .kind_of = {0}, .is_unknown = std::vector<bool>(awaited.size()), .offsets = {}});
  partners->sum_up();
  return partners;
}

std::shared_ptr<const RankPartners> RankPartners::of_waits(std::span<const StepWaits> waits) {
  auto partners = std::make_shared<RankPartners>();
  partners->ranks_ = Rank(waits.size());
  if (!partners->read_found(waits)) return nullptr;
  partners->parts_.push_back({.from = 0, .kind_of = {0}, .is_unknown = std::vector<bool>(waits.size()), .offsets = {}});
  partners->sum_up();
  return partners;
}

bool RankPartners::read_found(std::span<const StepWaits> waits) {
  std::vector<Waits> all;
  std::vector<const Waits*> places;
  std::vector<Ways> direct(waits.size());
  bool goes_across = false, are_several = false;
  all.reserve(waits.size());
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    places.push_back(&all.emplace_back(waits_of(waits[rank], ranks_)));
    goes_across = goes_across || span_of(waits[rank], ranks_).goes_across(Rank(rank), ranks_);
    are_several = are_several || waits[rank].size() > 1;
    std::set<Rank> offsets;
    for (const Offsets& wait : waits[rank])
      for (const Rank offset : wait) offsets.insert(shorter_way(offset, ranks_));
    for (const Rank offset : offsets) direct[rank].ways.push_back({.offset = offset});
  }
  KindOfStep& kind = kinds_.emplace_back();
  kind.has_several_waits = are_several;
  kind.directly = Lists::of_all(direct);
  auto composed =
      compose(places, goes_across ? Shape::kRing : Shape::kChain, kMostForEach * waits.size() + kMostForAll);
  if (!composed) return false;
  kind.collective = composed->all_meet;
  kind.awaited = Lists::of_all(composed->awaited);
  kind.waiters = kind.awaited.turned_round();
  return true;
}

/// What ranks say of a step. What one that says nothing now has said before is left out, as it counts as one that doesn't.
class RankPartners::Said {
 public:
  Said(const SaidWaits& all, wire::Step step) : all_(all), step_(step) {}
  std::optional<DeclaredWaits> by(Rank rank) const {
    const auto now = all_.by(rank);
    return now ? all_.by(rank, step_) : now;
  }
  bool is_there(Rank rank) const { return all_.timeline().lane(rank) != nullptr; }

 private:
  const SaidWaits& all_;
  wire::Step step_;
};

bool RankPartners::read(const SaidWaits& all, std::span<const StepWaits> others,
                        std::span<const StretchOfSteps> stretches) {
  const Timeline& timeline = all.timeline();
  ranks_ = timeline.ranks();
  if (who_declares(all) == WhoDeclares::kNobody) return false;
  const std::size_t of_heard = 2 * kMostForEach * heard_lanes(timeline) + kMostForAll;
  room_ = std::max(of_heard, std::size_t(timeline.budget() / kBudgetForOffset));
  if (!read_part(0, {all, stretches.empty() ? 0 : stretches.front().first - 1}, others)) return false;
  for (const StretchOfSteps& stretch : stretches)
    if (!read_part(stretch.first, {all, stretch.last}, others)) return false;
  sum_up();
  return true;
}

bool RankPartners::read_part(wire::Step from, const Said& said, std::span<const StepWaits> others) {
  std::size_t kinds = 1;
  std::map<const wire::WaitCycle*, DeclaredWaits> cycles;
  Part part{.from = from, .kind_of = {}, .is_unknown = {}, .offsets = {}};
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const auto its = said.by(rank);
    part.is_unknown.push_back(!its && said.is_there(rank) && (others.empty() || others[std::size_t(rank)].empty()));
    if (!its) continue;
    cycles.emplace(its->cycle, *its);
    const std::size_t together = std::lcm(kinds, its->cycle->steps.size());
    if (together <= kMostKinds) kinds = together;
  }
  const Shape shape = shape_of(said, others);
  // Most steps of a cycle are alike.
  std::map<StepOfAll, std::uint32_t, ByWhatTheyDo> known;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto [place, is_new] = known.emplace(step_of_all(cycles, kind, kinds), std::uint32_t(kinds_.size()));
    if (is_new && !read_kind(said, others, kind, kinds, shape)) return false;
    part.kind_of.push_back(place->second);
  }
  parts_.push_back(std::move(part));
  return true;
}

/// A ring where nothing tells.
Shape RankPartners::shape_of(const Said& said, std::span<const StepWaits> others) const {
  std::map<const wire::WaitCycle*, OffsetSpan> spans;
  bool is_known = false;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    OffsetSpan span;
    if (const auto its = said.by(rank)) {
      const auto [place, is_new] = spans.try_emplace(its->cycle);
      if (is_new) place->second = span_of(*its, ranks_);
      span = place->second;
    } else if (!others.empty()) {
      span = span_of(others[std::size_t(rank)], ranks_);
    }
    if (span.goes_across(rank, ranks_)) return Shape::kRing;
    is_known = is_known || !span.is_empty();
  }
  return is_known ? Shape::kChain : Shape::kRing;
}

bool RankPartners::read_kind(const Said& said, std::span<const StepWaits> others, std::size_t kind, std::size_t kinds,
                             Shape shape) {
  PerRank<Waits> inferred(static_cast<std::size_t>(ranks_));
  std::map<const wire::WaitCycle*, Waits> by_cycle;
  std::vector<const Waits*> waits;
  waits.reserve(std::size_t(ranks_));
  bool all_meet = true, some_meet = false;
  std::size_t stages = 0, most_stages = 0;
  lists_ += std::size_t(ranks_) / 2;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const auto its = said.by(rank);
    if (its && !by_cycle.contains(its->cycle))
      by_cycle[its->cycle] = waits_of(*its, kind, kinds, ranks_, most_entries());
    if (!its && !others.empty() && !others[std::size_t(rank)].empty())
      inferred.of(std::size_t(rank)) = waits_of(others[std::size_t(rank)], ranks_);
    waits.push_back(its ? &by_cycle[its->cycle] : &inferred[std::size_t(rank)]);
    all_meet = all_meet && (!its || waits.back()->collective);
    some_meet = some_meet || waits.back()->collective;
    entries_ += waits.back()->entries;
    stages += waits.back()->stages.size();
    most_stages = std::max(most_stages, waits.back()->stages.size());
    if (entries_ > most_entries() || lists_ + entries_ + kOffsetsOfWait * stages > room_) return false;
  }
  auto composed = compose(waits, shape, most_entries() - entries_);
  if (!composed) return false;
  KindOfStep& here = kinds_.emplace_back();
  here.collective = (all_meet && some_meet) || composed->all_meet;
  here.has_several_waits = some_meet || most_stages > 1;
  here.has_collectives = some_meet;
  here.awaited = Lists::of_all(composed->awaited);
  if (composed->all_meet) here.directly = Lists::of_all(composed->directly);
  composed.reset();
  here.waiters = here.awaited.turned_round();
  entries_ += here.awaited.offsets.size() + here.directly.offsets.size();
  return true;
}

std::size_t RankPartners::most_entries() const {
  const std::size_t most = kMostForEach * std::size_t(ranks_) + kMostForAll;
  return std::min(most, room_ - std::min(room_, lists_));
}

void RankPartners::sum_up() {
  std::set<Rank> offsets;
  for (Part& part : parts_) {
    sum_up(part);
    offsets.insert(part.offsets.begin(), part.offsets.end());
  }
  for (const Rank offset : offsets)
    if (offsets_.size() < kMostOffsets) offsets_.push_back(offset);
}

void RankPartners::sum_up(Part& part) {
  std::set<Rank> offsets;
  const std::set<std::uint32_t> kinds(part.kind_of.begin(), part.kind_of.end());
  for (const std::uint32_t kind : kinds) {
    for (Rank rank = 0; rank < ranks_; ++rank) {
      for (const Rank offset : kinds_[kind].awaited.of(rank)) {
        if (offsets.size() < kMostOffsets) offsets.insert(offset);
        ring_ = ring_ || rank + offset < 0 || rank + offset >= ranks_;
      }
    }
  }
  part.offsets.assign(offsets.begin(), offsets.end());
}

std::vector<StretchOfSteps> stretches_of(std::span<const wire::Step> steps, std::size_t most) {
  std::vector<StretchOfSteps> stretches;
  for (wire::Step width = 0;; width = 2 * width + 1) {
    stretches.clear();
    for (const wire::Step step : steps) {
      if (stretches.empty() || step - stretches.back().first > width) stretches.push_back({step, step});
      stretches.back().last = step;
    }
    if (stretches.size() <= most) return stretches;
  }
}

WhoDeclares who_declares(const SaidWaits& said) {
  const Timeline& timeline = said.timeline();
  Rank announced = 0, declare = 0;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    announced += timeline.lane(rank) != nullptr, declare += said.by(rank).has_value();
  if (declare == 0) return WhoDeclares::kNobody;
  return declare == announced ? WhoDeclares::kAll : WhoDeclares::kSome;
}

}  // namespace idlewave::analysis::partners
