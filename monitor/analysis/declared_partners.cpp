#include "monitor/analysis/declared_partners.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace idlewave::analysis {
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
/// Of a cycle: so many steps with a collective, as where partners are inferred.
constexpr double kCollective = 0.9;
/// Of a run. Ranks learn of a new part at steps of their own, a few apart.
constexpr std::size_t kMostParts = 8;
/// Of a step; later ones are taken together.
constexpr std::size_t kMostStages = 64;
/// Of one rank, beyond which what its partners have waited for before is left out: twice that is less than kMostForEach.
constexpr std::size_t kMostComposed = 48;
/// Of which it is found out whether all wait for all: a bit for each rank and each wait of another one.
constexpr std::size_t kMostMeetingBits = std::size_t{1} << 27;

using Offsets = std::vector<Rank>;

/// The shorter way round; half round is ahead.
Rank shortest(std::int64_t offset, Rank ranks) {
  const auto ahead = Rank(((offset % ranks) + ranks) % ranks);
  return ahead > ranks / 2 ? ahead - ranks : ahead;
}

void tidy(Offsets& offsets) {
  std::ranges::sort(offsets);
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}

/// Whom the rank waits for in each wait of a step; a collective of all is told by `collective` instead.
struct Waits {
  std::vector<Offsets> stages;
  std::size_t entries = 0;  ///< Of all stages.
  /// What is sent before each wait and received in it. None, or empty ones: not known.
  struct Messages {
    Offsets from, to;
    bool rendezvous = false;
  };
  std::vector<Messages> messages;
  std::size_t message_entries = 0;
  bool collective = false;
};

/// Of more than it waits for, and some, nothing is kept.
void add_messages(Waits& waits, const wire::WaitPattern& pattern, Rank ranks) {
  const std::size_t entries = pattern.from.size() + pattern.to.size();
  if (waits.message_entries + entries > 2 * waits.entries + kMostForEach) return;
  waits.message_entries += entries;
  Waits::Messages& messages = waits.messages.back();
  for (const Rank offset : pattern.from) messages.from.push_back(shortest(offset, ranks));
  for (const Rank offset : pattern.to) messages.to.push_back(shortest(offset, ranks));
  tidy(messages.from);
  tidy(messages.to);
  messages.rendezvous = messages.rendezvous || pattern.rendezvous;
}

/// Goes no further than to one wait beyond `most` entries.
void add_step(Waits& waits, const DeclaredWaits& said, const std::vector<std::uint32_t>& step, Rank ranks,
              std::size_t most) {
  for (const std::uint32_t number : step) {
    if (waits.entries > most) return;
    const wire::WaitPattern& pattern = said.patterns[number];
    if (pattern.collective && pattern.from.empty()) {
      waits.collective = true;
      continue;
    }
    if (waits.stages.size() < kMostStages) waits.stages.emplace_back(), waits.messages.emplace_back();
    Offsets& stage = waits.stages.back();
    waits.entries -= stage.size();
    for (const Rank offset : pattern.from) stage.push_back(shortest(offset, ranks));
    if (pattern.rendezvous)
      for (const Rank offset : pattern.to) stage.push_back(shortest(offset, ranks));
    std::erase(stage, 0);
    tidy(stage);
    waits.entries += stage.size();
    add_messages(waits, pattern, ranks);
  }
}

/// All steps of the cycle in one, if it is longer than `kinds`.
Waits waits_of(const DeclaredWaits& said, std::size_t kind, std::size_t kinds, Rank ranks, std::size_t most) {
  Waits waits;
  const auto& steps = said.cycle->steps;
  if (kinds % steps.size() == 0) {
    add_step(waits, said, steps[kind % steps.size()], ranks, most);
    return waits;
  }
  std::size_t collectives = 0;
  for (const auto& step : steps) {
    Waits one;
    add_step(one, said, step, ranks, most);
    collectives += one.collective;
    waits.stages.resize(std::max(waits.stages.size(), one.stages.size()));
    for (std::size_t i = 0; i < one.stages.size(); ++i) {
      waits.entries -= waits.stages[i].size();
      waits.stages[i].insert(waits.stages[i].end(), one.stages[i].begin(), one.stages[i].end());
      tidy(waits.stages[i]);
      waits.entries += waits.stages[i].size();
    }
    if (std::max(one.entries, waits.entries) > most) return one.entries > most ? one : waits;
  }
  waits.collective = collectives == steps.size();
  return waits;
}

/// All ranks' waits of a step in an order in which a wait comes after whatever it depends on: the rank's own wait before,
/// and those of each partner before that one does its part. Where no such order exists, as of messages that were sent in
/// the step before, or where nobody says which wait they belong to, partners are taken to have waited as often.
class WaitsInOrder {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Wait {
    Rank rank;
    std::uint32_t stage;
  };

  explicit WaitsInOrder(std::span<const Waits* const> waits) : waits_(waits) {
    begins_.reserve(waits.size() + 1);
    for (const Waits* each : waits) {
      begins_.push_back(begins_.back() + std::uint32_t(each->stages.size()));
      most_stages_ = std::max(most_stages_, each->stages.size());
    }
    if (most_stages_ < 2) {
      for (std::uint32_t place = 0; place < size(); ++place) order_.push_back(wait_at(place));
    } else if (!sort(true)) {
      sort(false);
    }
  }
  const std::vector<Wait>& order() const { return order_; }
  std::size_t most_stages() const { return most_stages_; }
  /// Of a wait, by which what is known of it may be kept.
  std::uint32_t place(Wait wait) const { return begins_[std::size_t(wait.rank)] + wait.stage; }
  /// The place of the rank's own wait before; kNone: this is the first.
  std::uint32_t before(Wait wait) const { return wait.stage == 0 ? kNone : place(wait) - 1; }
  std::span<const Rank> awaited(Wait wait) const { return waits_[std::size_t(wait.rank)]->stages[wait.stage]; }
  /// The place of a partner's latest wait before it does its part in this one; kNone: it has not waited.
  std::uint32_t before_part_of(Wait wait, Rank offset) const {
    if (most_stages_ < 2) return kNone;
    const auto ranks = Rank(waits_.size());
    const auto partner = std::size_t((wait.rank + offset + ranks) % ranks);
    const std::size_t stages = waits_[partner]->stages.size();
    const std::size_t waited = std::min(waited_before_part_of(wait, partner, offset), stages);
    return waited == 0 ? kNone : begins_[partner] + std::uint32_t(waited) - 1;
  }
  /// That of a rank's last wait; kNone: it has none.
  std::uint32_t last_of(Rank rank) const {
    const auto index = std::size_t(rank);
    return begins_[index] == begins_[index + 1] ? kNone : begins_[index + 1] - 1;
  }
  std::size_t size() const { return begins_.back(); }

 private:
  static bool holds(const Offsets& offsets, Rank offset) { return std::ranges::binary_search(offsets, offset); }

  std::size_t waited_before_part_of(Wait wait, std::size_t partner, Rank offset) const {
    const std::size_t alike = wait.stage;
    const std::vector<Waits::Messages>& mine = waits_[std::size_t(wait.rank)]->messages;
    if (!is_as_said_ || wait.stage >= mine.size()) return alike;
    const Waits::Messages& messages = mine[wait.stage];
    std::optional<std::size_t> waited;
    if (holds(messages.from, offset))
      waited = other_end(wait, partner, offset, &Waits::Messages::from, &Waits::Messages::to);
    if (messages.rendezvous && holds(messages.to, offset))
      waited = std::max(waited, other_end(wait, partner, offset, &Waits::Messages::to, &Waits::Messages::from));
    return waited.value_or(alike);
  }

  /// Before which of its waits: the rank's first message of the step from a partner is the partner's first to the rank, and
  /// so on. Nothing: it says of none.
  std::optional<std::size_t> other_end(Wait wait, std::size_t partner, Rank offset, Offsets Waits::Messages::*mine,
                                       Offsets Waits::Messages::*its) const {
    const std::vector<Waits::Messages>& my_messages = waits_[std::size_t(wait.rank)]->messages;
    const std::vector<Waits::Messages>& its_messages = waits_[partner]->messages;
    const Rank back = shortest(-std::int64_t{offset}, Rank(waits_.size()));
    std::size_t earlier = 0;
    for (std::size_t stage = 0; stage < wait.stage; ++stage) earlier += holds(my_messages[stage].*mine, offset);
    for (std::size_t stage = 0; stage < its_messages.size(); ++stage)
      if (holds(its_messages[stage].*its, back) && earlier-- == 0) return stage;
    return std::nullopt;
  }

  std::uint32_t dependency(Wait wait, std::size_t number) const {
    return number == 0 ? before(wait) : before_part_of(wait, awaited(wait)[number - 1]);
  }
  Wait wait_at(std::uint32_t place) const {
    const auto behind = std::ranges::upper_bound(begins_, place);
    const auto rank = std::size_t(behind - begins_.begin()) - 1;
    return {Rank(rank), place - begins_[rank]};
  }

  /// False: waits depend on each other in a circle.
  bool sort(bool as_said) {
    is_as_said_ = as_said;
    order_.clear();
    enum : std::uint8_t { kNew, kOpen, kDone };
    std::vector<std::uint8_t> states(size(), kNew);
    struct Frame {
      Wait wait;
      std::size_t next;
    };
    std::vector<Frame> open;
    for (std::uint32_t root = 0; root < size(); ++root) {
      if (states[root] == kNew) states[root] = kOpen, open.push_back({wait_at(root), 0});
      while (!open.empty()) {
        Frame& frame = open.back();
        if (frame.next > awaited(frame.wait).size()) {
          states[place(frame.wait)] = kDone;
          order_.push_back(frame.wait);
          open.pop_back();
          continue;
        }
        const std::uint32_t needed = dependency(frame.wait, frame.next++);
        if (needed == kNone || states[needed] == kDone) continue;
        if (states[needed] == kOpen) return false;
        states[needed] = kOpen;
        open.push_back({wait_at(needed), 0});
      }
    }
    return true;
  }

  std::span<const Waits* const> waits_;
  std::vector<std::uint32_t> begins_{0};
  std::size_t most_stages_ = 0;
  bool is_as_said_ = true;
  std::vector<Wait> order_;
};

/// Offsets of a cycle, the shorter way round. Half round both ways are as long, so that this tells nothing and is left out.
struct Span {
  Rank lowest = 0, highest = 0;
  void add(std::int64_t offset, Rank ranks) {
    const Rank way = shortest(offset, ranks);
    if (2 * std::int64_t{way} == ranks) return;
    lowest = std::min(lowest, way), highest = std::max(highest, way);
  }
  bool is_empty() const { return lowest == 0 && highest == 0; }
  bool goes_across(Rank rank, Rank ranks) const { return rank + lowest < 0 || rank + highest >= ranks; }
};

Span span_of(const DeclaredWaits& said, Rank ranks) {
  Span span;
  for (const auto& step : said.cycle->steps)
    for (const std::uint32_t number : step) {
      const wire::WaitPattern& pattern = said.patterns[number];
      for (const Rank offset : pattern.from) span.add(offset, ranks);
      for (const Rank offset : pattern.to)
        if (pattern.rendezvous) span.add(offset, ranks);
    }
  return span;
}

Span span_of(const StepWaits& step, Rank ranks) {
  Span span;
  for (const Offsets& stage : step)
    for (const Rank offset : stage) span.add(offset, ranks);
  return span;
}

/// What is known of each wait until nothing needs it any more.
class Composed {
 public:
  Composed(const WaitsInOrder& waits, std::size_t ranks) : waits_(waits), after_(waits.size()), needs_(waits.size()) {
    for (Rank rank = 0; rank < Rank(ranks); ++rank) need(waits.last_of(rank), +1);
    for (const WaitsInOrder::Wait& wait : waits.order()) need_all(wait, +1);
  }
  Offsets& after(std::uint32_t place) { return after_[place]; }
  /// Of all that are kept.
  std::size_t entries() const { return entries_; }
  void is_done(const WaitsInOrder::Wait& wait) {
    entries_ += after_[waits_.place(wait)].size();
    need_all(wait, -1);
  }

 private:
  void need_all(const WaitsInOrder::Wait& wait, int more) {
    need(waits_.before(wait), more);
    for (const Rank offset : waits_.awaited(wait)) need(waits_.before_part_of(wait, offset), more);
  }
  void need(std::uint32_t place, int more) {
    if (place == WaitsInOrder::kNone) return;
    needs_[place] += std::uint32_t(more);
    if (needs_[place] > 0) return;
    entries_ -= after_[place].size();
    after_[place] = {};
  }

  const WaitsInOrder& waits_;
  std::vector<Offsets> after_;
  std::vector<std::uint32_t> needs_;
  std::size_t entries_ = 0;
};

/// What each rank waits for within the step. Nothing: more than `most` of all ranks.
std::optional<PerRank<Offsets>> awaited_in(const WaitsInOrder& waits, Shape shape, std::size_t ranks,
                                           std::size_t most) {
  constexpr auto kNone = WaitsInOrder::kNone;
  const auto world = Rank(ranks);
  Composed composed(waits, ranks);
  for (const WaitsInOrder::Wait& wait : waits.order()) {
    Offsets& all = composed.after(waits.place(wait));
    if (const std::uint32_t before = waits.before(wait); before != kNone) all = composed.after(before);
    for (const Rank offset : waits.awaited(wait)) {
      const Rank there = shape == Shape::kRing ? offset : (wait.rank + offset + world) % world - wait.rank;
      all.push_back(there);
      const std::uint32_t its = waits.before_part_of(wait, offset);
      if (its == kNone || all.size() > kMostComposed || composed.after(its).size() > kMostComposed) continue;
      for (const Rank further : composed.after(its))
        all.push_back(shape == Shape::kRing ? shortest(std::int64_t{there} + further, world) : there + further);
    }
    std::erase(all, 0);
    tidy(all);
    composed.is_done(wait);
    if (composed.entries() > most) return std::nullopt;
  }
  PerRank<Offsets> awaited(ranks);
  for (Rank rank = 0; rank < Rank(ranks); ++rank)
    if (const std::uint32_t last = waits.last_of(rank); last != kNone)
      awaited.of(std::size_t(rank)) = std::move(composed.after(last));
  return awaited;
}

/// Sets of ranks, of a bit each.
class RankSets {
 public:
  RankSets(std::size_t sets, std::size_t ranks) : words_((ranks + 63) / 64), bits_(sets * words_) {}
  void add(std::size_t set, std::size_t rank) { bits_[set * words_ + rank / 64] |= std::uint64_t{1} << rank % 64; }
  void add_all_of(std::size_t set, std::size_t other) {
    for (std::size_t i = 0; i < words_; ++i) bits_[set * words_ + i] |= bits_[other * words_ + i];
  }
  std::size_t size_of(std::size_t set) const {
    std::size_t bits = 0;
    for (std::size_t i = 0; i < words_; ++i) bits += std::size_t(std::popcount(bits_[set * words_ + i]));
    return bits;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// In several waits of a step each rank waits for each other one, directly or not: a collective made by hand, as by
/// recursive doubling.
bool all_meet_in(const WaitsInOrder& waits, std::size_t ranks) {
  constexpr auto kNone = WaitsInOrder::kNone;
  if (waits.most_stages() < 2 || waits.size() > kMostMeetingBits / ranks) return false;
  RankSets sets(waits.size(), ranks);
  for (const WaitsInOrder::Wait& wait : waits.order()) {
    const std::uint32_t mine = waits.place(wait);
    sets.add(mine, std::size_t(wait.rank));
    if (const std::uint32_t before = waits.before(wait); before != kNone) sets.add_all_of(mine, before);
    for (const Rank offset : waits.awaited(wait)) {
      sets.add(mine, std::size_t((wait.rank + offset + Rank(ranks)) % Rank(ranks)));
      if (const std::uint32_t its = waits.before_part_of(wait, offset); its != kNone) sets.add_all_of(mine, its);
    }
  }
  for (Rank rank = 0; rank < Rank(ranks); ++rank) {
    const std::uint32_t last = waits.last_of(rank);
    if (last == kNone || sets.size_of(last) < ranks) return false;
  }
  return true;
}

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

Waits waits_of(const StepWaits& step, Rank ranks) {
  Waits waits{.stages = step};
  for (Offsets& stage : waits.stages) {
    for (Rank& offset : stage) offset = shortest(offset, ranks);
    std::erase(stage, 0);
    tidy(stage);
    waits.entries += stage.size();
  }
  return waits;
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
  for (const Offsets& list : lists) entries += list.size();
  Lists all;
  all.begins.reserve(lists.size() + 1);
  all.offsets.reserve(entries);
  for (const Offsets& list : lists) {
    all.offsets.insert(all.offsets.end(), list.begin(), list.end());
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
  Lists turned{std::vector<std::uint32_t>(begins.size() + 1), std::vector<Rank>(offsets.size())};
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

bool RankPartners::are_collective() const {
  return std::ranges::all_of(parts_, [&](const Part& part) { return is_collective(part); });
}

std::shared_ptr<const RankPartners> RankPartners::declared_in(const Timeline& timeline,
                                                              std::span<const StepWaits> others) {
  auto partners = std::make_shared<RankPartners>();
  const std::vector<StretchOfSteps> stretches = stretches_of(timeline.partner_changes(), kMostParts - 1);
  if (partners->read(timeline, others, stretches)) return partners;
  // As ranks say it now may still fit.
  *partners = {};
  return !stretches.empty() && partners->read(timeline, others, {}) ? partners : nullptr;
}

std::shared_ptr<const RankPartners> RankPartners::of(const std::vector<Offsets>& awaited) {
  auto partners = std::make_shared<RankPartners>();
  partners->ranks_ = Rank(awaited.size());
  KindOfStep& all = partners->kinds_.emplace_back();
  all.awaited = Lists::of_all(awaited);
  all.waiters = all.awaited.turned_round();
  partners->parts_.push_back(
      {.from = 0, .kind_of = {0}, .is_unknown = std::vector<bool>(awaited.size()), .offsets = {}});
  partners->sum_up();
  return partners;
}

/// What ranks say of a step. What one that says nothing now has said before is left out, as it counts as one that doesn't.
class RankPartners::Said {
 public:
  Said(const Timeline& timeline, wire::Step step) : timeline_(timeline), step_(step) {}
  std::optional<DeclaredWaits> by(Rank rank) const {
    const auto now = timeline_.declared_waits(rank);
    return now ? timeline_.declared_waits(rank, step_) : now;
  }
  bool is_there(Rank rank) const { return timeline_.lane(rank) != nullptr; }

 private:
  const Timeline& timeline_;
  wire::Step step_;
};

bool RankPartners::read(const Timeline& timeline, std::span<const StepWaits> others,
                        std::span<const StretchOfSteps> stretches) {
  ranks_ = timeline.ranks();
  if (who_declares(timeline) == WhoDeclares::kNobody) return false;
  const std::size_t of_heard = 2 * kMostForEach * heard_lanes(timeline) + kMostForAll;
  room_ = std::max(of_heard, std::size_t(timeline.budget() / kBudgetForOffset));
  if (!read_part(0, {timeline, stretches.empty() ? 0 : stretches.front().first - 1}, others)) return false;
  for (const StretchOfSteps& stretch : stretches)
    if (!read_part(stretch.first, {timeline, stretch.last}, others)) return false;
  sum_up();
  return true;
}

bool RankPartners::read_part(wire::Step from, const Said& said, std::span<const StepWaits> others) {
  std::size_t kinds = 1;
  std::map<const wire::WaitCycle*, DeclaredWaits> cycles;
  std::map<const wire::WaitCycle*, Span> spans;
  bool is_known = false, goes_across = false;
  const auto look_at = [&](Rank rank, const Span& span) {
    is_known = is_known || !span.is_empty();
    goes_across = goes_across || span.goes_across(rank, ranks_);
  };
  Part part{.from = from, .kind_of = {}, .is_unknown = {}, .offsets = {}};
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const auto its = said.by(rank);
    if (its) {
      if (!spans.contains(its->cycle)) spans[its->cycle] = span_of(*its, ranks_);
      look_at(rank, spans[its->cycle]);
    } else if (!others.empty()) {
      look_at(rank, span_of(others[std::size_t(rank)], ranks_));
    }
    part.is_unknown.push_back(!its && said.is_there(rank) && (others.empty() || others[std::size_t(rank)].empty()));
    if (!its) continue;
    cycles.emplace(its->cycle, *its);
    const std::size_t together = std::lcm(kinds, its->cycle->steps.size());
    if (together <= kMostKinds) kinds = together;
  }
  const Shape shape = is_known && !goes_across ? Shape::kChain : Shape::kRing;
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

bool RankPartners::read_kind(const Said& said, std::span<const StepWaits> others, std::size_t kind, std::size_t kinds,
                             Shape shape) {
  PerRank<Waits> inferred(static_cast<std::size_t>(ranks_));
  std::map<const wire::WaitCycle*, Waits> by_cycle;
  std::vector<const Waits*> waits;
  waits.reserve(std::size_t(ranks_));
  bool all_meet = true, some_meet = false;
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
    if (entries_ > most_entries()) return false;
  }
  const WaitsInOrder in_order(waits);
  if (all_meet_in(in_order, waits.size())) {
    const Lists nobody = Lists::of_all(PerRank<Offsets>(waits.size()));
    kinds_.push_back({.awaited = nobody, .waiters = nobody, .collective = true});
    return true;
  }
  auto awaited = awaited_in(in_order, shape, waits.size(), most_entries() - entries_);
  if (!awaited) return false;
  KindOfStep& here = kinds_.emplace_back();
  here.collective = all_meet && some_meet;
  here.awaited = Lists::of_all(*awaited);
  awaited.reset();
  here.waiters = here.awaited.turned_round();
  entries_ += here.awaited.offsets.size();
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

WhoDeclares who_declares(const Timeline& timeline) {
  Rank announced = 0, declare = 0;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank)
    announced += timeline.lane(rank) != nullptr, declare += timeline.declared_waits(rank).has_value();
  if (declare == 0) return WhoDeclares::kNobody;
  return declare == announced ? WhoDeclares::kAll : WhoDeclares::kSome;
}

namespace {

using Cycle = const wire::WaitCycle*;

/// Of the one step that a rank repeats, as numbers of patterns.
const WaitsOfStep& only_step(const DeclaredWaits& said) { return said.cycle->steps.front(); }

/// A rank repeats one step without a collective.
bool repeats_messages(const DeclaredWaits& said) {
  const auto is_collective = [&](std::uint32_t number) { return said.patterns[number].collective; };
  return said.cycle->steps.size() == 1 && std::ranges::none_of(only_step(said), is_collective);
}

/// Distances of the messages that come; nothing where others go.
std::optional<Offsets> message_distances(const wire::WaitPattern& pattern) {
  Offsets distances;
  for (auto offset = pattern.from.rbegin(); offset != pattern.from.rend(); ++offset) distances.push_back(-*offset);
  if (distances != pattern.to) return std::nullopt;
  return distances;
}

bool leads_outside(Rank rank, Rank offset, Rank ranks) { return rank + offset < 0 || rank + offset >= ranks; }

std::size_t partners_in(const DeclaredWaits& said) {
  std::size_t partners = 0;
  for (const std::uint32_t number : only_step(said))
    partners += said.patterns[number].from.size() + said.patterns[number].to.size();
  return partners;
}

std::optional<DeclaredMessages> messages_of(const DeclaredWaits& said) {
  const WaitsOfStep& step = only_step(said);
  DeclaredMessages messages;
  messages.split = step.size() > 1;
  for (const std::uint32_t number : step) {
    const wire::WaitPattern& pattern = said.patterns[number];
    const auto distances = message_distances(pattern);
    const bool fits = distances && (!messages.split || distances->size() == 1);
    if (!fits || pattern.rendezvous != said.patterns[step.front()].rendezvous) return std::nullopt;
    messages.distances.insert(messages.distances.end(), distances->begin(), distances->end());
  }
  if (messages.distances.empty()) return std::nullopt;
  messages.rendezvous = said.patterns[step.front()].rendezvous;
  return messages;
}

/// Whether ranks say what the one that says most does, but for those partners that a rank of a chain does not have.
/// Who follows the same cycle and lacks the same partners says the same: one of those is looked at.
class SameMessages {
 public:
  SameMessages(const DeclaredWaits& most, const DeclaredMessages& messages, Rank ranks)
      : most_(most), ranks_(ranks), ring_(messages.ring), offsets_(messages.distances) {
    for (const Rank distance : messages.distances) offsets_.push_back(-distance);
    tidy(offsets_);
  }

  bool are_of(Rank rank, const DeclaredWaits& its) {
    const auto first = std::ranges::partition_point(offsets_, [&](Rank offset) { return rank + offset < 0; });
    const auto last = std::ranges::partition_point(offsets_, [&](Rank offset) { return rank + offset < ranks_; });
    const auto [known, is_new] = known_.try_emplace({its.cycle, first - offsets_.begin(), last - offsets_.begin()});
    if (is_new) known->second = compare(rank, its);
    return known->second;
  }

 private:
  bool compare(Rank rank, const DeclaredWaits& its) const {
    return std::ranges::equal(only_step(its), only_step(most_), [&](std::uint32_t mine, std::uint32_t whole) {
      const wire::WaitPattern &said = its.patterns[mine], &expected = most_.patterns[whole];
      return said.rendezvous == expected.rendezvous && are_left(rank, said.from, expected.from) &&
             are_left(rank, said.to, expected.to);
    });
  }

  bool are_left(Rank rank, const Offsets& said, const Offsets& expected) const {
    if (ring_) return said == expected;
    auto mine = said.begin();
    for (const Rank offset : expected) {
      if (leads_outside(rank, offset, ranks_)) continue;
      if (mine == said.end() || *mine++ != offset) return false;
    }
    return mine == said.end();
  }

  const DeclaredWaits most_;
  const Rank ranks_;
  const bool ring_;
  Offsets offsets_;  ///< To and from, ascending.
  std::map<std::tuple<Cycle, std::ptrdiff_t, std::ptrdiff_t>, bool> known_;
};

/// The first step of the longest part of the run; of the part at its end where there are no others.
wire::Step longest_part(const Timeline& timeline) {
  wire::Step longest = 0, length = 0, from = 0;
  std::vector<wire::Step> ends = timeline.partner_changes();
  ends.push_back(timeline.latest_step() + 1);
  for (const wire::Step end : ends) {
    if (end - from >= length) longest = from, length = end - from;
    from = end;
  }
  return longest;
}

/// Of the rank that says most of its messages, the first of those; nothing if any rank does not say just that.
std::optional<DeclaredWaits> fullest_step(const Timeline& timeline, wire::Step step) {
  std::map<Cycle, std::size_t> partners;
  std::optional<DeclaredWaits> fullest;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const auto said = timeline.declared_waits(rank, step);
    if (!said) return std::nullopt;
    const auto [known, is_new] = partners.try_emplace(said->cycle);
    if (is_new && !repeats_messages(*said)) return std::nullopt;
    if (is_new) known->second = partners_in(*said);
    if (!fullest || known->second > partners[fullest->cycle]) fullest = said;
  }
  return fullest;
}

bool all_say(const Timeline& timeline, wire::Step step, SameMessages messages) {
  Rank rank = 0;
  while (rank < timeline.ranks() && messages.are_of(rank, *timeline.declared_waits(rank, step))) ++rank;
  return rank == timeline.ranks();
}

}  // namespace

std::optional<DeclaredMessages> declared_messages(const Timeline& timeline) {
  const wire::Step step = longest_part(timeline);
  const auto most = fullest_step(timeline, step);
  auto messages = most ? messages_of(*most) : std::nullopt;
  if (!messages) return std::nullopt;
  messages->changes = !timeline.partner_changes().empty();
  for (const bool ring : {true, false}) {
    messages->ring = ring;
    if (all_say(timeline, step, {*most, *messages, timeline.ranks()})) return messages;
  }
  return std::nullopt;
}

}  // namespace idlewave::analysis
