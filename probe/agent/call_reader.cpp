#include "probe/agent/call_reader.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>

namespace idlewave::agent {
namespace {

using shm::CallBook;
using wire::Nanoseconds;

constexpr auto kRelaxed = std::memory_order_relaxed;

std::uint32_t functions_in(const CallBook& book) {
  return std::min(book.functions.load(std::memory_order_acquire), shm::kCallFunctions);
}

/// What grows with whatever else does: calls, seen or not, or the messages of a program that tells of them itself and of no calls.
std::uint64_t sums_in(const CallBook& book) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < functions_in(book); ++i) sum += book.function[i].calls.load(kRelaxed);
  for (const CallBook::Function& function : book.by_threads) sum += function.calls.load(kRelaxed);
  sum += book.unseen_calls.load(kRelaxed);
  if (functions_in(book) > 0) return sum;
  for (const CallBook::Pair& pair : book.pair) sum += pair.messages.load(kRelaxed);
  return sum + book.other_messages.load(kRelaxed);
}

Nanoseconds time_in(const std::atomic<std::int64_t>& field) {
  return std::max(Nanoseconds(field.load(kRelaxed)), Nanoseconds(0));
}

wire::FunctionSums read(const CallBook::Function& function) {
  char name[shm::kCallNameLimit];  // It may change while it is read.
  memcpy(name, function.name, sizeof name);
  return {.name = {name, strnlen(name, sizeof name)},
          .calls = function.calls.load(kRelaxed),
          .bytes = function.bytes.load(kRelaxed),
          .unsized = function.unsized.load(kRelaxed),
          .time = time_in(function.time_ns),
          .longest = time_in(function.longest_ns)};
}

void add(wire::FunctionSums& sum, const wire::FunctionSums& more) {
  sum.calls += more.calls;
  sum.bytes += more.bytes;
  sum.unsized += more.unsized;
  sum.time = more.time > Nanoseconds::max() - sum.time ? Nanoseconds::max() : sum.time + more.time;
  sum.longest = std::max(sum.longest, more.longest);
}

/// Of all threads of the rank.
std::vector<wire::FunctionSums> read_functions(const CallBook& book) {
  std::vector<wire::FunctionSums> functions;
  for (std::uint32_t i = 0; i < functions_in(book); ++i) functions.push_back(read(book.function[i]));
  for (const CallBook::Function& by_threads : book.by_threads) {
    if (by_threads.calls.load(std::memory_order_acquire) == 0) continue;
    const wire::FunctionSums theirs = read(by_threads);
    const auto known = std::ranges::find(functions, theirs.name, &wire::FunctionSums::name);
    known == functions.end() ? functions.push_back(theirs) : add(*known, theirs);
  }
  return functions;
}

/// Ascending, each receiver once.
std::vector<wire::PairSums> read_pairs(std::span<const CallBook::Pair> book, wire::Rank world_size) {
  std::vector<wire::PairSums> pairs;
  for (const CallBook::Pair& pair : book) {
    const wire::Rank taken_by = pair.taken_by.load(std::memory_order_acquire);
    if (taken_by <= 0 || taken_by > world_size) continue;
    const wire::PairSums sums{taken_by - 1, pair.messages.load(kRelaxed), pair.bytes.load(kRelaxed)};
    if (sums.messages > 0) pairs.push_back(sums);
  }
  std::ranges::sort(pairs, {}, &wire::PairSums::to);
  const auto is_same = [](const wire::PairSums& a, const wire::PairSums& b) { return a.to == b.to; };
  pairs.erase(std::unique(pairs.begin(), pairs.end(), is_same), pairs.end());
  return pairs;
}

/// Of all threads of the rank.
std::vector<wire::PairSums> read_pairs(const CallBook& book, wire::Rank world_size) {
  std::vector<wire::PairSums> all = read_pairs(book.pair, world_size);
  const std::size_t own = all.size();
  for (const wire::PairSums& theirs : read_pairs(book.pair_by_threads, world_size)) {
    const auto end = all.begin() + std::ptrdiff_t(own);
    const auto known = std::ranges::lower_bound(all.begin(), end, theirs.to, {}, &wire::PairSums::to);
    if (known == end || known->to != theirs.to) {
      all.push_back(theirs);
    } else {
      known->messages += theirs.messages;
      known->bytes += theirs.bytes;
    }
  }
  std::ranges::sort(all, {}, &wire::PairSums::to);
  return all;
}

}  // namespace

std::optional<wire::RankCalls> CallReader::read_if_new(const CallBook& book, wire::Rank rank, std::int32_t pid,
                                                       wire::Rank world_size) {
  const std::uint64_t sums = sums_in(book);
  if (sums == seen_) return std::nullopt;
  seen_ = sums;
  wire::RankCalls read_now{.rank = rank, .pid = pid};
  read_now.functions = read_functions(book);
  read_now.pairs = read_pairs(book, world_size);
  read_now.other_messages = book.other_messages.load(kRelaxed) + book.other_messages_by_threads.load(kRelaxed);
  read_now.other_bytes = book.other_bytes.load(kRelaxed) + book.other_bytes_by_threads.load(kRelaxed);
  read_now.unseen = book.unseen_calls.load(kRelaxed);
  return read_now;
}

}  // namespace idlewave::agent
