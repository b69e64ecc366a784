#include "monitor/analysis/partners/step_waits.h"

#include <algorithm>
#include <bit>

namespace idlewave::analysis::partners {
namespace {

using timeline::DeclaredWaits;
using wire::Rank;

/// Of a step; later ones are taken together.
constexpr std::size_t kMostStages = 64;
/// Of a step; more are not kept, unless the rank waits for half as many.
constexpr std::size_t kMostMessages = 128;
/// Of one rank, beyond which what its partners have waited for before is left out.
constexpr std::size_t kMostComposed = 48;
/// Of which it is found out whether all wait for all: a bit for each rank and each wait of another one.
constexpr std::size_t kMostMeetingBits = std::size_t{1} << 27;

void tidy(Offsets& offsets) {
  std::ranges::sort(offsets);
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}

std::uint8_t one_more(std::uint8_t messages) { return std::uint8_t(messages + (messages < UINT8_MAX)); }

/// Of both ways to a rank: what it waits for directly, if it does.
WaitsFor either(WaitsFor one, WaitsFor other) {
  const auto is_direct = [](WaitsFor what) { return what != WaitsFor::kNotSaid && what != WaitsFor::kThroughOthers; };
  if (is_direct(one) && is_direct(other)) return one == other ? one : WaitsFor::kBoth;
  if (is_direct(one) || is_direct(other)) return is_direct(one) ? one : other;
  return std::min(one, other);
}

/// Of several ways to the same rank the one with the most messages takes longest, wherever the delay is.
void tidy(Ways& ways) {
  const auto is_before = [](const Way& a, const Way& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.messages > b.messages;
  };
  for (const Way& way : ways.ways)
    if (way.offset == 0) ways.own = std::max(ways.own, way.messages);
  std::erase_if(ways.ways, [](const Way& way) { return way.offset == 0; });
  std::ranges::sort(ways.ways, is_before);
  auto kept = ways.ways.begin();
  for (auto way = ways.ways.begin(); way != ways.ways.end(); ++way) {
    if (kept != ways.ways.begin() && std::prev(kept)->offset == way->offset)
      std::prev(kept)->what = either(std::prev(kept)->what, way->what);
    else
      *kept++ = *way;
  }
  ways.ways.erase(kept, ways.ways.end());
}

bool are_open(const wire::WaitPattern& pattern) {
  return pattern.uncertain && !pattern.rendezvous && !pattern.collective &&
         !std::ranges::includes(pattern.from, pattern.to);
}

void add_messages(Waits& waits, const wire::WaitPattern& pattern, bool sends_wait, Rank ranks) {
  const std::size_t entries = pattern.from.size() + pattern.to.size();
  if (waits.message_entries + entries > 2 * waits.entries + kMostMessages) return;
  waits.message_entries += entries;
  Waits::Messages& messages = waits.messages.back();
  for (const Rank offset : pattern.from) messages.from.push_back(shorter_way(offset, ranks));
  for (const Rank offset : pattern.to) messages.to.push_back(shorter_way(offset, ranks));
  tidy(messages.from);
  tidy(messages.to);
  messages.rendezvous = messages.rendezvous || sends_wait;
}

/// Goes no further than to one wait beyond `most` entries.
void add_step(Waits& waits, const DeclaredWaits& said, const std::vector<std::uint32_t>& step, Rank ranks,
              std::size_t most, OpenSends open) {
  for (const std::uint32_t number : step) {
    if (waits.entries > most) return;
    const wire::WaitPattern& pattern = said.patterns[number];
    if (pattern.collective && pattern.from.empty()) {
      waits.collective = true;
      continue;
    }
    if (waits.stages.size() < kMostStages) waits.stages.emplace_back(), waits.messages.emplace_back();
    waits.has_open_sends = waits.has_open_sends || are_open(pattern);
    const bool sends_wait = pattern.rendezvous || (open == OpenSends::kWait && are_open(pattern));
    Offsets& stage = waits.stages.back();
    waits.entries -= stage.size();
    for (const Rank offset : pattern.from) stage.push_back(shorter_way(offset, ranks));
    if (sends_wait)
      for (const Rank offset : pattern.to) stage.push_back(shorter_way(offset, ranks));
    std::erase(stage, 0);
    tidy(stage);
    waits.entries += stage.size();
    add_messages(waits, pattern, sends_wait, ranks);
  }
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
      for (const Offsets& stage : each->stages) parts_begin_.push_back(parts_begin_.back() + stage.size());
    }
    look_up_parts(When::kAsSaid);
    if (sort()) return;
    look_up_parts(When::kAlike);
    sort();
  }
  const std::vector<Wait>& order() const { return order_; }
  std::size_t most_stages() const { return most_stages_; }
  /// Of a wait, by which what is known of it may be kept.
  std::uint32_t place(Wait wait) const { return begins_[std::size_t(wait.rank)] + wait.stage; }
  /// The place of the rank's own wait before; kNone: this is the first.
  std::uint32_t before(Wait wait) const { return wait.stage == 0 ? kNone : place(wait) - 1; }
  std::span<const Rank> awaited(Wait wait) const { return waits_[std::size_t(wait.rank)]->stages[wait.stage]; }
  /// Then a message begins when both are there.
  bool is_rendezvous(Wait wait) const {
    const auto& messages = waits_[std::size_t(wait.rank)]->messages;
    return wait.stage < messages.size() && messages[wait.stage].rendezvous;
  }
  /// Of one that is awaited.
  WaitsFor what(Wait wait, Rank offset) const {
    const auto& messages = waits_[std::size_t(wait.rank)]->messages;
    if (wait.stage >= messages.size()) return WaitsFor::kNotSaid;
    const Waits::Messages& here = messages[wait.stage];
    const bool sends = holds(here.from, offset), receives = here.rendezvous && holds(here.to, offset);
    if (sends && receives) return WaitsFor::kBoth;
    return sends ? WaitsFor::kItsMessage : receives ? WaitsFor::kItsReceive : WaitsFor::kNotSaid;
  }
  /// Of each that is awaited the place of its latest wait before it does its part in this one; kNone: it has not waited.
  std::span<const std::uint32_t> before_parts(Wait wait) const {
    const std::uint32_t at = place(wait);
    return std::span(parts_).subspan(parts_begin_[at], parts_begin_[at + 1] - parts_begin_[at]);
  }
  /// That of a rank's last wait; kNone: it has none.
  std::uint32_t last_of(Rank rank) const {
    const auto index = std::size_t(rank);
    return begins_[index] == begins_[index + 1] ? kNone : begins_[index + 1] - 1;
  }
  std::size_t size() const { return begins_.back(); }

 private:
  enum class When : std::uint8_t { kAsSaid, kAlike };

  void look_up_parts(When when) {
    parts_.clear();
    parts_.reserve(parts_begin_.back());
    for (std::uint32_t at = 0; at < size(); ++at) {
      const Wait wait = wait_at(at);
      for (const Rank offset : awaited(wait))
        parts_.push_back(most_stages_ < 2 ? kNone : before_part_of(wait, offset, when));
    }
  }

  std::uint32_t before_part_of(Wait wait, Rank offset, When when) const {
    const auto ranks = Rank(waits_.size());
    const auto partner = std::size_t((wait.rank + offset + ranks) % ranks);
    const std::size_t as_often = when == When::kAlike ? wait.stage : waited_before_part_of(wait, partner, offset);
    const std::size_t waited = std::min(as_often, waits_[partner]->stages.size());
    return waited == 0 ? kNone : begins_[partner] + std::uint32_t(waited) - 1;
  }

  static bool holds(const Offsets& offsets, Rank offset) { return std::ranges::binary_search(offsets, offset); }

  std::size_t waited_before_part_of(Wait wait, std::size_t partner, Rank offset) const {
    const std::size_t alike = wait.stage;
    const std::vector<Waits::Messages>& mine = waits_[std::size_t(wait.rank)]->messages;
    if (wait.stage >= mine.size()) return alike;
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
    const Rank back = shorter_way(-std::int64_t{offset}, Rank(waits_.size()));
    std::size_t earlier = 0;
    for (std::size_t stage = 0; stage < wait.stage; ++stage) earlier += holds(my_messages[stage].*mine, offset);
    for (std::size_t stage = 0; stage < its_messages.size(); ++stage)
      if (holds(its_messages[stage].*its, back) && earlier-- == 0) return stage;
    return std::nullopt;
  }

  std::uint32_t dependency(Wait wait, std::size_t number) const {
    return number == 0 ? before(wait) : before_parts(wait)[number - 1];
  }
  Wait wait_at(std::uint32_t place) const {
    const auto behind = std::ranges::upper_bound(begins_, place);
    const auto rank = std::size_t(behind - begins_.begin()) - 1;
    return {Rank(rank), place - begins_[rank]};
  }

  /// False: waits depend on each other in a circle.
  bool sort() {
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
  std::vector<std::size_t> parts_begin_{0};  ///< By place.
  std::vector<std::uint32_t> parts_;
  std::vector<Wait> order_;
};

/// What is known of each wait until nothing needs it any more.
class Composed {
 public:
  Composed(const WaitsInOrder& waits, std::size_t ranks) : waits_(waits), after_(waits.size()), needs_(waits.size()) {
    for (Rank rank = 0; rank < Rank(ranks); ++rank) need(waits.last_of(rank), +1);
    for (const WaitsInOrder::Wait& wait : waits.order()) need_all(wait, +1);
  }
  Ways& after(std::uint32_t place) { return after_[place]; }
  /// Of all that are kept.
  std::size_t entries() const { return entries_; }
  void is_done(const WaitsInOrder::Wait& wait) {
    entries_ += after_[waits_.place(wait)].ways.size();
    need_all(wait, -1);
  }

 private:
  void need_all(const WaitsInOrder::Wait& wait, int more) {
    need(waits_.before(wait), more);
    for (const std::uint32_t its : waits_.before_parts(wait)) need(its, more);
  }
  void need(std::uint32_t place, int more) {
    if (place == WaitsInOrder::kNone) return;
    needs_[place] += std::uint32_t(more);
    if (needs_[place] > 0) return;
    entries_ -= after_[place].ways.size();
    after_[place] = {};
  }

  const WaitsInOrder& waits_;
  std::vector<Ways> after_;
  std::vector<std::uint32_t> needs_;
  std::size_t entries_ = 0;
};

/// What each rank waits for within the step. Nothing: more than `most` of all ranks.
std::optional<PerRank<Ways>> awaited_in(const WaitsInOrder& waits, Shape shape, std::size_t ranks, std::size_t most) {
  constexpr auto kNone = WaitsInOrder::kNone;
  const auto world = Rank(ranks);
  Composed composed(waits, ranks);
  for (const WaitsInOrder::Wait& wait : waits.order()) {
    Ways& all = composed.after(waits.place(wait));
    if (const std::uint32_t before = waits.before(wait); before != kNone) all = composed.after(before);
    if (waits.is_rendezvous(wait) && !waits.awaited(wait).empty()) {
      all.own = one_more(all.own);
      for (Way& way : all.ways) way.messages = one_more(way.messages);
    }
    for (std::size_t i = 0; i < waits.awaited(wait).size(); ++i) {
      const Rank offset = waits.awaited(wait)[i];
      const Rank there = shape == Shape::kRing ? offset : (wait.rank + offset + world) % world - wait.rank;
      const std::uint32_t its = waits.before_parts(wait)[i];
      all.ways.push_back({there, one_more(its == kNone ? 0 : composed.after(its).own), waits.what(wait, offset)});
      if (its == kNone || all.ways.size() > kMostComposed || composed.after(its).ways.size() > kMostComposed) continue;
      for (const Way& way : composed.after(its).ways) {
        const std::int64_t further = std::int64_t{there} + way.offset;
        all.ways.push_back({shape == Shape::kRing ? shorter_way(further, world) : Rank(further), one_more(way.messages),
                            way.what == WaitsFor::kNotSaid ? way.what : WaitsFor::kThroughOthers});
      }
    }
    tidy(all);
    composed.is_done(wait);
    if (composed.entries() > most) return std::nullopt;
  }
  PerRank<Ways> awaited(ranks);
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

bool all_meet_in(const WaitsInOrder& waits, std::size_t ranks) {
  constexpr auto kNone = WaitsInOrder::kNone;
  if (waits.most_stages() < 2 || waits.size() > kMostMeetingBits / ranks) return false;
  RankSets sets(waits.size(), ranks);
  for (const WaitsInOrder::Wait& wait : waits.order()) {
    const std::uint32_t mine = waits.place(wait);
    sets.add(mine, std::size_t(wait.rank));
    if (const std::uint32_t before = waits.before(wait); before != kNone) sets.add_all_of(mine, before);
    for (const Rank offset : waits.awaited(wait))
      sets.add(mine, std::size_t((wait.rank + offset + Rank(ranks)) % Rank(ranks)));
    for (const std::uint32_t its : waits.before_parts(wait))
      if (its != kNone) sets.add_all_of(mine, its);
  }
  for (Rank rank = 0; rank < Rank(ranks); ++rank) {
    const std::uint32_t last = waits.last_of(rank);
    if (last == kNone || sets.size_of(last) < ranks) return false;
  }
  return true;
}

PerRank<Ways> directly_in(const WaitsInOrder& in_order, std::size_t ranks) {
  PerRank<Ways> directly(ranks);
  for (const WaitsInOrder::Wait& wait : in_order.order())
    for (const Rank offset : in_order.awaited(wait))
      directly.of(std::size_t(wait.rank)).ways.push_back({offset, 1, in_order.what(wait, offset)});
  for (std::size_t rank = 0; rank < ranks; ++rank) tidy(directly.of(rank));
  return directly;
}

}  // namespace

Rank shorter_way(std::int64_t offset, Rank ranks) {
  const auto ahead = Rank(((offset % ranks) + ranks) % ranks);
  return ahead > ranks / 2 ? ahead - ranks : ahead;
}

Waits waits_of(const DeclaredWaits& said, std::size_t kind, std::size_t kinds, Rank ranks, std::size_t most,
               OpenSends open) {
  Waits waits;
  const auto& steps = said.cycle->steps;
  if (kinds % steps.size() == 0) {
    add_step(waits, said, steps[kind % steps.size()], ranks, most, open);
    return waits;
  }
  std::size_t collectives = 0;
  for (const auto& step : steps) {
    Waits one;
    add_step(one, said, step, ranks, most, open);
    collectives += one.collective;
    waits.has_open_sends = waits.has_open_sends || one.has_open_sends;
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

Waits waits_of(const StepWaits& step, Rank ranks) {
  Waits waits{.stages = step};
  for (Offsets& stage : waits.stages) {
    for (Rank& offset : stage) offset = shorter_way(offset, ranks);
    std::erase(stage, 0);
    tidy(stage);
    waits.entries += stage.size();
  }
  return waits;
}

void OffsetSpan::add(std::int64_t offset, Rank ranks) {
  const Rank way = shorter_way(offset, ranks);
  if (2 * std::int64_t{way} == ranks) return;
  lowest_ = std::min(lowest_, way), highest_ = std::max(highest_, way);
}

OffsetSpan span_of(const DeclaredWaits& said, Rank ranks) {
  OffsetSpan span;
  for (const auto& step : said.cycle->steps)
    for (const std::uint32_t number : step) {
      const wire::WaitPattern& pattern = said.patterns[number];
      for (const Rank offset : pattern.from) span.add(offset, ranks);
      for (const Rank offset : pattern.to)
        if (pattern.rendezvous || are_open(pattern)) span.add(offset, ranks);
    }
  return span;
}

OffsetSpan span_of(const StepWaits& step, Rank ranks) {
  OffsetSpan span;
  for (const Offsets& stage : step)
    for (const Rank offset : stage) span.add(offset, ranks);
  return span;
}

std::optional<ComposedStep> compose(std::span<const Waits* const> waits, Shape shape, std::size_t most) {
  const std::size_t ranks = waits.size();
  const WaitsInOrder in_order(waits);
  if (all_meet_in(in_order, ranks))
    return ComposedStep{.all_meet = true, .awaited = PerRank<Ways>(ranks), .directly = directly_in(in_order, ranks)};
  auto awaited = awaited_in(in_order, shape, ranks, most);
  if (!awaited) return std::nullopt;
  return ComposedStep{.all_meet = false, .awaited = std::move(*awaited)};
}

}  // namespace idlewave::analysis::partners
