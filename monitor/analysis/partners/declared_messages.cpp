#include "monitor/analysis/partners/declared_messages.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace idlewave::analysis::partners {
namespace {

using timeline::DeclaredWaits;
using timeline::Timeline;
using wire::Rank;
using Distances = std::vector<Rank>;
using Cycle = const wire::WaitCycle*;

/// Of the one step that a rank repeats, as numbers of patterns.
const std::vector<std::uint32_t>& only_step(const DeclaredWaits& said) { return said.cycle->steps.front(); }

/// A rank repeats one step without a collective.
bool repeats_messages(const DeclaredWaits& said) {
  const auto is_collective = [&](std::uint32_t number) { return said.patterns[number].collective; };
  return said.cycle->steps.size() == 1 && std::ranges::none_of(only_step(said), is_collective);
}

/// Distances of the messages that come; nothing where others go.
std::optional<Distances> message_distances(const wire::WaitPattern& pattern) {
  Distances distances;
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
  const std::vector<std::uint32_t>& step = only_step(said);
  DeclaredMessages messages;
  messages.split = step.size() > 1;
  for (const std::uint32_t number : step) {
    const wire::WaitPattern& pattern = said.patterns[number];
    const auto distances = message_distances(pattern);
    const bool fits = distances && !pattern.uncertain && (!messages.split || distances->size() == 1);
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
    std::ranges::sort(offsets_);
    offsets_.erase(std::unique(offsets_.begin(), offsets_.end()), offsets_.end());
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
      const bool is_open = said.uncertain && !said.rendezvous;
      return !is_open && said.rendezvous == expected.rendezvous && are_left(rank, said.from, expected.from) &&
             are_left(rank, said.to, expected.to);
    });
  }

  bool are_left(Rank rank, const Distances& said, const Distances& expected) const {
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
  Distances offsets_;  ///< To and from, ascending.
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
std::optional<DeclaredWaits> fullest_step(const SaidWaits& all, wire::Step step) {
  std::map<Cycle, std::size_t> partners;
  std::optional<DeclaredWaits> fullest;
  for (Rank rank = 0; rank < all.timeline().ranks(); ++rank) {
    const auto said = all.by(rank, step);
    if (!said) return std::nullopt;
    const auto [known, is_new] = partners.try_emplace(said->cycle);
    if (is_new && !repeats_messages(*said)) return std::nullopt;
    if (is_new) known->second = partners_in(*said);
    if (!fullest || known->second > partners[fullest->cycle]) fullest = said;
  }
  return fullest;
}

bool all_say(const SaidWaits& all, wire::Step step, SameMessages messages) {
  const Rank ranks = all.timeline().ranks();
  Rank rank = 0;
  while (rank < ranks && messages.are_of(rank, *all.by(rank, step))) ++rank;
  return rank == ranks;
}

}  // namespace

std::optional<DeclaredMessages> declared_messages(const SaidWaits& said) {
  const Timeline& timeline = said.timeline();
  const wire::Step step = longest_part(timeline);
  const auto most = fullest_step(said, step);
  auto messages = most ? messages_of(*most) : std::nullopt;
  if (!messages) return std::nullopt;
  messages->changes = !timeline.partner_changes().empty();
  for (const bool ring : {true, false}) {
    messages->ring = ring;
    if (all_say(said, step, {*most, *messages, timeline.ranks()})) return messages;
  }
  return std::nullopt;
}

}  // namespace idlewave::analysis::partners
