#include "monitor/analysis/partners/declared_partners.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace idlewave::analysis::partners {
namespace {

using timeline::Timeline;
using wire::Rank;

constexpr std::size_t kMostOffsets = 1000;
/// Of a cycle: so many steps with a collective, as where partners are inferred.
constexpr double kCollective = 0.9;
/// Of a rank's steps: who says whom it waits for in so many of them counts as one that says it, whatever it says last.
constexpr double kMostSteps = 0.75;

}  // namespace

RankPartners::Lists RankPartners::Lists::of_all(const PerRank<Ways>& lists) {
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
const RankPartners::Steps& RankPartners::steps_of(wire::Step step) const {
  if (step >= parts_.back().from) return steps_[parts_.back().steps];
  const auto behind = std::ranges::upper_bound(parts_, step, {}, &Part::from);
  return steps_[(behind == parts_.begin() ? *behind : *std::prev(behind)).steps];
}

const RankPartners::KindOfStep& RankPartners::in(wire::Step step) const {
  const std::vector<std::uint32_t>& kind_of = steps_of(step).kind_of;
  return kinds_[kind_of[std::size_t(std::max<wire::Step>(step, 0)) % kind_of.size()]];
}

bool RankPartners::is_collective(const Steps& steps) const {
  const auto is_collective = [&](std::uint32_t kind) { return kinds_[kind].collective; };
  return double(std::ranges::count_if(steps.kind_of, is_collective)) > kCollective * double(steps.kind_of.size());
}

bool RankPartners::has_collective_steps() const {
  return std::ranges::any_of(steps_, [&](const Steps& steps) {
    return std::ranges::any_of(steps.kind_of, [&](std::uint32_t kind) { return kinds_[kind].collective; });
  });
}

bool RankPartners::are_collective() const {
  return std::ranges::all_of(steps_, [&](const Steps& steps) { return is_collective(steps); });
}

std::shared_ptr<const RankPartners> RankPartners::of(const std::vector<Offsets>& awaited) {
  auto partners = std::make_shared<RankPartners>();
  partners->ranks_ = Rank(awaited.size());
  PerRank<Ways> direct(awaited.size());
  for (std::size_t rank = 0; rank < awaited.size(); ++rank)
    for (const Rank offset : awaited[rank]) direct.of(rank).ways.push_back({.offset = offset});
  KindOfStep& all = partners->kinds_.emplace_back();
  all.awaited = Lists::of_all(direct);
  all.waiters = all.awaited.turned_round();
  partners->add_only_part();
  return partners;
}

std::shared_ptr<const RankPartners> RankPartners::of_waits(std::span<const StepWaits> waits) {
  auto partners = std::make_shared<RankPartners>();
  partners->ranks_ = Rank(waits.size());
  if (!partners->read_found(waits)) return nullptr;
  partners->add_only_part();
  return partners;
}

/// In which all that it knows is of one kind of step.
void RankPartners::add_only_part() {
  steps_.push_back({.kind_of = {0}, .is_unknown = std::vector<bool>(std::size_t(ranks_)), .offsets = {}});
  parts_.push_back({});
  sum_up();
}

bool RankPartners::read_found(std::span<const StepWaits> waits) {
  std::vector<Waits> all;
  std::vector<const Waits*> places;
  PerRank<Ways> direct(waits.size());
  bool goes_across = false, are_several = false;
  all.reserve(waits.size());
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    places.push_back(&all.emplace_back(waits_of(waits[rank], ranks_)));
    goes_across = goes_across || span_of(waits[rank], ranks_).goes_across(Rank(rank), ranks_);
    are_several = are_several || waits[rank].size() > 1;
    std::set<Rank> offsets;
    for (const Offsets& wait : waits[rank])
      for (const Rank offset : wait) offsets.insert(shorter_way(offset, ranks_));
    for (const Rank offset : offsets) direct.of(rank).ways.push_back({.offset = offset});
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

void RankPartners::sum_up() {
  std::set<Rank> offsets;
  for (Steps& steps : steps_) {
    sum_up(steps);
    offsets.insert(steps.offsets.begin(), steps.offsets.end());
  }
  for (const Rank offset : offsets)
    if (offsets_.size() < kMostOffsets) offsets_.push_back(offset);
}

void RankPartners::sum_up(Steps& steps) {
  std::set<Rank> offsets;
  const std::set<std::uint32_t> kinds(steps.kind_of.begin(), steps.kind_of.end());
  for (const std::uint32_t kind : kinds) {
    for (Rank rank = 0; rank < ranks_; ++rank) {
      for (const Rank offset : kinds_[kind].awaited.of(rank)) {
        if (offsets.size() < kMostOffsets) offsets.insert(offset);
        ring_ = ring_ || rank + offset < 0 || rank + offset >= ranks_;
      }
    }
  }
  steps.offsets.assign(offsets.begin(), offsets.end());
}

/// What a rank said holds for the steps of which it said it, also where it says nothing at the end of the run.
WhoDeclares who_declares(const SaidWaits& said) {
  const Timeline& timeline = said.timeline();
  Rank announced = 0, declare = 0;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    announced += timeline.lane(rank) != nullptr,
        declare += said.by(rank).has_value() || timeline.declared_share(rank) >= kMostSteps;
  if (declare == 0) return WhoDeclares::kNobody;
  return declare == announced ? WhoDeclares::kAll : WhoDeclares::kSome;
}

}  // namespace idlewave::analysis::partners
