#include "monitor/analysis/partners/said_waits.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "monitor/analysis/partners/step_waits.h"

namespace idlewave::analysis::partners {
namespace {

using timeline::DeclaredWaits;
using timeline::Timeline;
using wire::Rank;
using wire::WaitPattern;
using RuleOf = std::map<Rank, std::optional<bool>>;  ///< By offset.

bool needs_a_rule(const WaitPattern& pattern) {
  return pattern.uncertain && !pattern.rendezvous && !pattern.collective;
}

bool some_need_a_rule(const Timeline& timeline) {
  const WaitPattern* seen = nullptr;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const auto raw = timeline.declared_waits(rank);
    if (!raw || raw->patterns.data() == seen) continue;
    seen = raw->patterns.data();
    if (std::ranges::any_of(raw->patterns, needs_a_rule)) return true;
  }
  return false;
}

void add_to(Offsets& offsets, const Offsets& more) {
  Offsets all;
  std::ranges::set_union(offsets, more, std::back_inserter(all));
  offsets = std::move(all);
}

/// Puts a cycle into the words of one who knows whether its sends wait. What is sent without waiting belongs to the wait
/// that follows, as long as no collective lies between.
class Settling {
 public:
  explicit Settling(RuleOf rules) : rules_(std::move(rules)) {}

  /// False: a rule is missing.
  bool add_step(std::span<const WaitPattern> patterns, const std::vector<std::uint32_t>& numbers) {
    cycle_.steps.emplace_back();
    for (const std::uint32_t number : numbers)
      if (!add(patterns[number])) return false;
    flush();
    return true;
  }
  wire::WaitCycle take_cycle() { return std::move(cycle_); }
  std::vector<WaitPattern> take_patterns() { return std::move(patterns_); }

 private:
  bool add(WaitPattern pattern) {
    if (needs_a_rule(pattern)) {
      const auto waiting = waiting_targets(pattern);
      if (!waiting) return false;
      pattern.uncertain = false;
      pattern.rendezvous = !waiting->empty();
      if (pattern.rendezvous) pattern.to = *waiting;
      if (pattern.from.empty() && !pattern.rendezvous) return add_to(sent_, pattern.to), true;
    }
    if (pattern.collective) flush();
    if (!pattern.rendezvous && !pattern.collective) add_to(pattern.to, sent_);
    sent_.clear();
    append(std::move(pattern));
    return true;
  }

  /// Nothing: a rule is missing.
  std::optional<Offsets> waiting_targets(const WaitPattern& pattern) const {
    Offsets waiting;
    for (const Rank target : pattern.to) {
      const auto rule = rules_.find(target);
      const bool is_known = rule != rules_.end() && rule->second;
      if (is_known && *rule->second) waiting.push_back(target);
      if (!is_known && !std::ranges::binary_search(pattern.from, target)) return std::nullopt;
    }
    return waiting;
  }

  void flush() {
    WaitPattern sends;
    sends.to = std::exchange(sent_, {});
    if (!sends.to.empty()) append(std::move(sends));
  }

  void append(WaitPattern pattern) {
    const auto known = std::ranges::find(patterns_, pattern);
    cycle_.steps.back().push_back(std::uint32_t(known - patterns_.begin()));
    if (known == patterns_.end()) patterns_.push_back(std::move(pattern));
  }

  RuleOf rules_;
  wire::WaitCycle cycle_;
  std::vector<WaitPattern> patterns_;
  Offsets sent_;  ///< Since the last wait.
};

}  // namespace

SaidWaits::SaidWaits(const Timeline& timeline, SendRules rules)
    : timeline_(timeline), rules_(std::move(rules)), has_uncertain_(some_need_a_rule(timeline)) {}

std::optional<DeclaredWaits> SaidWaits::by(Rank rank) const {
  const auto raw = timeline_.declared_waits(rank);
  return raw && has_uncertain_ ? settled(rank, *raw) : raw;
}

std::optional<DeclaredWaits> SaidWaits::by(Rank rank, wire::Step step) const {
  const auto raw = timeline_.declared_waits(rank, step);
  if (!raw || !has_uncertain_) return raw;
  const auto then = settled(rank, *raw);
  return then ? then : by(rank);
}

std::set<SendKind> SaidWaits::uncertain_kinds(Rank rank, wire::Step step) const {
  std::set<SendKind> kinds;
  const auto raw = timeline_.declared_waits(rank, step);
  if (!raw) return kinds;
  const auto& offsets = uncertain_offsets(*raw);
  const std::vector<bool> leave = leave_node(rank, offsets);
  for (std::size_t i = 0; i < offsets.size(); ++i) kinds.insert({offsets[i], leave[i]});
  return kinds;
}

const std::vector<Rank>& SaidWaits::uncertain_offsets(const DeclaredWaits& raw) const {
  const auto [known, is_new] = offsets_.try_emplace(raw.cycle);
  if (!is_new) return known->second;
  for (const auto& step : raw.cycle->steps)
    for (const std::uint32_t number : step)
      if (needs_a_rule(raw.patterns[number])) add_to(known->second, raw.patterns[number].to);
  return known->second;
}

std::vector<bool> SaidWaits::leave_node(Rank rank, const std::vector<Rank>& offsets) const {
  const Rank ranks = timeline_.ranks();
  std::vector<bool> leave;
  for (const Rank offset : offsets)
    leave.push_back(!timeline_.are_on_one_node(rank, Rank((rank + offset) % ranks + ranks) % ranks));
  return leave;
}

std::map<Rank, std::optional<bool>> SaidWaits::rules_for(const std::vector<Rank>& offsets,
                                                         const std::vector<bool>& leave) const {
  RuleOf rules;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    rules[offsets[i]] = rules_.of({shorter_way(offsets[i], timeline_.ranks()), leave[i]});
  return rules;
}

std::optional<DeclaredWaits> SaidWaits::settled(Rank rank, const DeclaredWaits& raw) const {
  const std::vector<Rank>& offsets = uncertain_offsets(raw);
  if (offsets.empty()) return raw;
  auto leave = leave_node(rank, offsets);
  const auto [known, is_new] = settled_.try_emplace({raw.cycle, leave});
  if (is_new) {
    Settling settling(rules_for(offsets, leave));
    Settled words;
    for (const auto& step : raw.cycle->steps) words.is_known = words.is_known && settling.add_step(raw.patterns, step);
    words.cycle = settling.take_cycle();
    words.patterns = settling.take_patterns();
    known->second = std::make_unique<const Settled>(std::move(words));
  }
  const Settled& words = *known->second;
  return words.is_known ? std::optional(DeclaredWaits{&words.cycle, words.patterns}) : std::nullopt;
}

}  // namespace idlewave::analysis::partners
