#include "probe/agent/partner_names.h"

#include <algorithm>
#include <atomic>

namespace idlewave::agent {
namespace {

using shm::PartnerBook;
using wire::Rank;
using wire::WaitCycle;
using wire::WaitPattern;

template <class T>
T read_once(const T& field, std::memory_order order = std::memory_order_relaxed) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(order);
}

void tidy(std::vector<Rank>& distances) {
  std::sort(distances.begin(), distances.end());
  distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
}

/// As distances, the shorter way round; half round is ahead. Ranks that can't be are left out.
std::vector<Rank> distances_to(const PartnerBook& book, std::uint32_t first, std::uint32_t count,
                               PartnerMap::Place place) {
  std::vector<Rank> distances;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Rank other = read_once(book.ranks[first + i]);
    if (other < 0 || other >= place.world_size || other == place.rank) continue;
    const Rank ahead = other > place.rank ? other - place.rank : other - place.rank + place.world_size;
    distances.push_back(ahead > place.world_size / 2 ? ahead - place.world_size : ahead);
  }
  tidy(distances);
  return distances;
}

std::optional<WaitPattern> pattern_in(const PartnerBook& book, std::uint32_t number, PartnerMap::Place place) {
  const PartnerBook::Pattern& said = book.patterns[number];
  if (read_once(said.is_defined, std::memory_order_acquire) == 0) return std::nullopt;
  const std::uint32_t first = read_once(said.first), sources = read_once(said.sources),
                      targets = read_once(said.targets), flags = read_once(said.flags);
  if (first > shm::kPatternRanks || sources > shm::kPatternRanks - first ||
      targets > shm::kPatternRanks - first - sources)
    return std::nullopt;
  WaitPattern pattern;
  pattern.from = distances_to(book, first, sources, place);
  if ((flags & PartnerBook::kCollective) == 0) {
    pattern.rendezvous = (flags & PartnerBook::kRendezvous) != 0;
    pattern.uncertain = (flags & PartnerBook::kUncertain) != 0;
    pattern.to = distances_to(book, first + sources, targets, place);
    return pattern;
  }
  const bool is_alone = sources > 0 && pattern.from.empty();
  pattern.collective = !is_alone;
  if (std::ssize(pattern.from) == place.world_size - 1) pattern.from.clear();
  return pattern;
}

/// The steps' patterns as the rank numbers them; nothing if that is no cycle.
std::optional<WaitCycle> cycle_in(const PartnerBook& book, std::uint32_t number) {
  const PartnerBook::Cycle& said = book.cycles[number - 1];
  const std::uint32_t size = read_once(said.symbols, std::memory_order_acquire), first = read_once(said.first);
  if (size == 0 || first > shm::kCycleSymbols || size > shm::kCycleSymbols - first) return std::nullopt;
  WaitCycle cycle{.steps = {{}}};
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint8_t symbol = read_once(book.symbols[first + i]);
    if (symbol > shm::kEndOfStep) return std::nullopt;
    if (symbol < shm::kEndOfStep)
      cycle.steps.back().push_back(symbol);
    else if (i + 1 < size)
      cycle.steps.emplace_back();
  }
  return cycle;
}

std::vector<std::int64_t> words_of(const WaitPattern& pattern) {
  std::vector<std::int64_t> words{pattern.rendezvous, pattern.uncertain, pattern.collective, std::ssize(pattern.from)};
  words.insert(words.end(), pattern.from.begin(), pattern.from.end());
  words.insert(words.end(), pattern.to.begin(), pattern.to.end());
  return words;
}

std::vector<std::int64_t> words_of(const WaitCycle& cycle) {
  std::vector<std::int64_t> words;
  for (const auto& step : cycle.steps) {
    words.insert(words.end(), step.begin(), step.end());
    words.push_back(-1);
  }
  return words;
}

}  // namespace

template <class T>
std::optional<std::uint32_t> PartnerNames::number_in(std::vector<T>& all, Numbers& numbers, const T& wanted) {
  std::vector<std::int64_t> words = words_of(wanted);
  if (const auto known = numbers.find(words); known != numbers.end()) return known->second;
  if (all.size() == wire::kMaxPatterns || entries_ + words.size() > kMostEntries) return std::nullopt;
  entries_ += words.size();
  const auto number = std::uint32_t(all.size());
  numbers.emplace(std::move(words), number);
  all.push_back(wanted);
  return number;
}

std::optional<std::uint32_t> PartnerNames::number_of(const WaitPattern& pattern) {
  return number_in(patterns_, pattern_numbers_, pattern);
}

std::uint32_t PartnerNames::number_of(const WaitCycle& cycle) {
  const auto number = number_in(cycles_, cycle_numbers_, cycle);
  return number ? *number + 1 : 0;
}

std::uint32_t PartnerMap::translate(std::uint64_t cycle, const PartnerBook& book, Place place, PartnerNames& names) {
  if (cycle == 0 || cycle > shm::kCycles) return 0;
  std::optional<std::uint32_t>& known = known_[std::size_t(cycle - 1)];
  if (!known) known = look_up(std::uint32_t(cycle), book, place, names);
  return *known;
}

/// Each pattern once, however often the cycle names it.
std::uint32_t PartnerMap::look_up(std::uint32_t number, const PartnerBook& book, Place place, PartnerNames& names) {
  auto cycle = cycle_in(book, number);
  if (!cycle) return 0;
  std::array<std::optional<std::uint32_t>, shm::kPatterns> numbers;
  for (auto& step : cycle->steps) {
    for (std::uint32_t& pattern : step) {
      std::optional<std::uint32_t>& named = numbers[pattern];
      if (!named) {
        const auto said = pattern_in(book, pattern, place);
        named = said ? names.number_of(*said) : std::nullopt;
      }
      if (!named) return 0;
      pattern = *named;
    }
  }
  return names.number_of(*cycle);
}

}  // namespace idlewave::agent
