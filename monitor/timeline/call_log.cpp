#include "monitor/timeline/call_log.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace idlewave::timeline {
namespace {

using wire::FunctionSums;
using wire::Nanoseconds;
using wire::PairSums;
using wire::RankCalls;

std::uint64_t bytes_of(const RankCalls& calls) {
  constexpr std::uint64_t kNode = 48;  // of a map
  return kNode + sizeof calls + calls.functions.size() * sizeof(FunctionSums) + calls.pairs.size() * sizeof(PairSums);
}

void forget_pair(RankCalls& calls, const PairSums& pair) {
  calls.other_messages += pair.messages;
  calls.other_bytes += pair.bytes;
}

void forget_pairs(RankCalls& calls) {
  for (const PairSums& pair : calls.pairs) forget_pair(calls, pair);
  calls.pairs = {};
}

/// Neither is below 0. What can't be is cut rather than wrapped round.
Nanoseconds sum_of(Nanoseconds a, Nanoseconds b) { return a > Nanoseconds::max() - b ? Nanoseconds::max() : a + b; }

void add(FunctionSums& sum, const FunctionSums& more) {
  sum.calls += more.calls;
  sum.bytes += more.bytes;
  sum.unsized += more.unsized;
  sum.time = sum_of(sum.time, more.time);
  sum.longest = std::max(sum.longest, more.longest);
}

void add_functions(std::vector<FunctionSums>& sums, const std::vector<FunctionSums>& more) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < sums.size(); ++i) places.emplace(sums[i].name, i);
  for (const FunctionSums& function : more) {
    const auto [place, is_new] = places.emplace(function.name, sums.size());
    is_new ? sums.push_back(function) : add(sums[place->second], function);
  }
}

/// Both by receiver.
std::vector<PairSums> sum_of_pairs(const std::vector<PairSums>& some, const std::vector<PairSums>& more) {
  std::vector<PairSums> all;
  std::ranges::merge(some, more, std::back_inserter(all), {}, &PairSums::to, &PairSums::to);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (kept > 0 && all[kept - 1].to == all[i].to)
      all[kept - 1].messages += all[i].messages, all[kept - 1].bytes += all[i].bytes;
    else
      all[kept++] = all[i];
  }
  all.resize(kept);
  return all;
}

RankCalls sum_of(RankCalls sum, const RankCalls& more) {
  add_functions(sum.functions, more.functions);
  sum.pairs = sum_of_pairs(sum.pairs, more.pairs);
  sum.other_messages += more.other_messages;
  sum.other_bytes += more.other_bytes;
  sum.unseen += more.unseen;
  return sum;
}

}  // namespace

void CallLog::set(RankCalls calls, wire::Rank ranks) {
  ++told_;
  while (!calls.pairs.empty() && calls.pairs.back().to >= ranks) {
    forget_pair(calls, calls.pairs.back());
    calls.pairs.pop_back();
  }
  const wire::Rank rank = calls.rank;
  const auto known = ranks_.find(rank);
  if (known != ranks_.end() && known->second.pid != calls.pid) {
    RankCalls before = known->second;
    take_out(earlier_, rank);
    put(earlier_, std::move(before));
  }
  if (const RankCalls* told = of(rank)) unseen_ -= told->unseen;
  take_out(ranks_, rank);
  const auto before = earlier_.find(rank);
  put(ranks_, before == earlier_.end() ? std::move(calls) : sum_of(std::move(calls), before->second));
  if (const RankCalls* told = of(rank)) unseen_ += told->unseen;
}

const RankCalls* CallLog::of(wire::Rank rank) const {
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? nullptr : &found->second;
}

void CallLog::take_out(std::map<wire::Rank, RankCalls>& from, wire::Rank rank) {
  const auto found = from.find(rank);
  if (found == from.end()) return;
  bytes_ -= bytes_of(found->second);
  from.erase(found);
}

void CallLog::put(std::map<wire::Rank, RankCalls>& into, RankCalls calls) {
  if (bytes_ + bytes_of(calls) > budget_) forget_pairs(calls);
  if (bytes_ + bytes_of(calls) > budget_) {
    is_cut_ = true;
    return;
  }
  bytes_ += bytes_of(calls);
  into.insert_or_assign(calls.rank, std::move(calls));
}

}  // namespace idlewave::timeline
