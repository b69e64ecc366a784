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

bool has_open_sends(const DeclaredWaits& said) {
  return std::ranges::any_of(said.cycle->steps, [&](const auto& step) {
    return std::ranges::any_of(step, [&](std::uint32_t number) { return needs_a_rule(said.patterns[number]); });
  });
}

/// What a step waits for besides its sends.
std::vector<const WaitPattern*> receives_in(const DeclaredWaits& said, std::size_t step) {
  std::vector<const WaitPattern*> receives;
  for (const std::uint32_t number : said.cycle->steps[step % said.cycle->steps.size()])
    if (const WaitPattern& pattern = said.patterns[number]; pattern.collective || !pattern.from.empty())
      receives.push_back(&pattern);
  return receives;
}

bool receive_alike(const DeclaredWaits& one, const DeclaredWaits& other) {
  if (one.cycle->steps.size() != other.cycle->steps.size()) return false;
  const auto are_alike = [](const WaitPattern* a, const WaitPattern* b) {
    return a->collective == b->collective && a->from == b->from;
  };
  for (std::size_t step = 0; step < one.cycle->steps.size(); ++step)
    if (!std::ranges::equal(receives_in(one, step), receives_in(other, step), are_alike)) return false;
  return true;
}

/// Whether its sends to that one wait, if it says the same of all of them.
std::optional<bool> known_of_sends_to(Rank offset, const DeclaredWaits& said) {
  bool some_wait = false, some_do_not = false;
  for (const auto& step : said.cycle->steps) {
    for (const std::uint32_t number : step) {
      const WaitPattern& pattern = said.patterns[number];
      if (!std::ranges::binary_search(pattern.to, offset)) continue;
      if (needs_a_rule(pattern)) return std::nullopt;
      (pattern.rendezvous ? some_wait : some_do_not) = true;
    }
  }
  return some_wait == some_do_not ? std::nullopt : std::optional(some_wait);
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

  void add_step(std::span<const WaitPattern> patterns, const std::vector<std::uint32_t>& numbers) {
    cycle_.steps.emplace_back();
    for (const std::uint32_t number : numbers) add(patterns[number]);
    flush();
  }
  wire::WaitCycle take_cycle() { return std::move(cycle_); }
  std::vector<WaitPattern> take_patterns() { return std::move(patterns_); }

 private:
  void add(WaitPattern pattern) {
    const bool was_known = !needs_a_rule(pattern);
    if (!was_known) settle(pattern);
    const bool may_wait = pattern.rendezvous || pattern.uncertain;
    if (pattern.from.empty() && !was_known && !may_wait) return add_to(sent_, pattern.to);
    if (pattern.collective) flush();
    if (!may_wait && !pattern.collective) add_to(pattern.to, sent_);
    sent_.clear();
    append(std::move(pattern));
  }

  /// Where a rule is missing all stay open that may wait.
  void settle(WaitPattern& pattern) const {
    Offsets waiting, open;
    bool is_open = false;
    for (const Rank target : pattern.to) {
      const auto rule = rules_.find(target);
      const bool is_known = rule != rules_.end() && rule->second;
      if (is_known && *rule->second) waiting.push_back(target);
      if (!is_known || *rule->second) open.push_back(target);
      is_open = is_open || (!is_known && !std::ranges::binary_search(pattern.from, target));
    }
    pattern.uncertain = is_open;
    pattern.rendezvous = !is_open && !waiting.empty();
    if (is_open) pattern.to = std::move(open);
    if (pattern.rendezvous) pattern.to = std::move(waiting);
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

/// In those words, which are kept where they are made once.
template <class Words, class GetRules>
DeclaredWaits settled_by(GetRules rules, const DeclaredWaits& raw, std::unique_ptr<const Words>& kept) {
  if (!kept) {
    Settling settling(rules());
    for (const auto& step : raw.cycle->steps) settling.add_step(raw.patterns, step);
    kept = std::make_unique<const Words>(Words{settling.take_cycle(), settling.take_patterns()});
  }
  return {&kept->cycle, kept->patterns};
}

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
  const DeclaredWaits then = settled(rank, *raw);
  if (!has_open_sends(then)) return then;
  const auto now = by(rank);
  if (!now) return then;
  if (!has_open_sends(*now) && receive_alike(then, *now)) return now;
  const std::vector<Rank>& offsets = uncertain_offsets(*raw);
  std::vector<bool> key = leave_node(rank, offsets);
  RuleOf rules = rules_for(offsets, key);
  for (auto& [offset, rule] : rules) {
    if (!rule) rule = known_of_sends_to(offset, *now);
    key.push_back(rule.has_value()), key.push_back(rule.value_or(false));
  }
  return settled_by([&] { return rules; }, *raw, settled_[{raw->cycle, std::move(key)}]);
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

DeclaredWaits SaidWaits::settled(Rank rank, const DeclaredWaits& raw) const {
  const std::vector<Rank>& offsets = uncertain_offsets(raw);
  if (offsets.empty()) return raw;
  const std::vector<bool> leave = leave_node(rank, offsets);
  return settled_by([&] { return rules_for(offsets, leave); }, raw, settled_[{raw.cycle, leave}]);
}

}  // namespace idlewave::analysis::partners
