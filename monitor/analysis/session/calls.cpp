#include "monitor/analysis/session/calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

namespace idlewave::analysis::session {
namespace {

using timeline::Rank;
using timeline::Timeline;

/// Of session time.
constexpr timeline::Nanoseconds kCountPeriod = std::chrono::seconds(2);

/// Send to one rank, and no pair counts it: the target is one of a window.
constexpr std::array kNotCounted = {
    "MPI_Put",  "MPI_Get",  "MPI_Accumulate",  "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap",
    "MPI_Rput", "MPI_Rget", "MPI_Raccumulate", "MPI_Rget_accumulate"};

/// Send to one rank, what pairs count where the thread calls them that its rank is shown by.
constexpr std::array kCounted = {
    "MPI_Send",  "MPI_Ssend",   "MPI_Rsend",  "MPI_Bsend",  "MPI_Sendrecv",  "MPI_Sendrecv_replace",
    "MPI_Isend", "MPI_Issend",  "MPI_Irsend", "MPI_Ibsend", "MPI_Isendrecv", "MPI_Isendrecv_replace",
    "MPI_Start", "MPI_Startall"};

bool is_one_of(std::span<const char* const> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void add(Traffic& sum, std::uint64_t messages, std::uint64_t bytes) {
  sum.messages += messages;
  sum.bytes += bytes;
}

/// What the sizes tell of; nothing if no call has one.
void add_bytes(FunctionUse& use, const wire::FunctionSums& sums) {
  use.unsized += sums.unsized;
  if (sums.unsized < sums.calls) use.bytes = use.bytes.value_or(0) + sums.bytes;
}

void add(FunctionUse& use, const wire::FunctionSums& sums, Rank rank) {
  ++use.ranks;
  use.calls += sums.calls;
  use.time_s += double(sums.time.count()) * 1e-9;
  add_bytes(use, sums);
  if (sums.longest <= use.longest) return;
  use.longest = sums.longest;
  use.longest_rank = rank;
}

void add(Matrix& matrix, const PairUse& pair) {
  matrix.pairs.push_back(pair);
  add(matrix.all, pair.traffic.messages, pair.traffic.bytes);
  switch (pair.crosses) {
    case Crossing::kNothing: return;
    case Crossing::kDomains: return add(matrix.across_domains, pair.traffic.messages, pair.traffic.bytes);
    case Crossing::kNodes: return add(matrix.across_nodes, pair.traffic.messages, pair.traffic.bytes);
    case Crossing::kUnknown: return add(matrix.unplaced, pair.traffic.messages, pair.traffic.bytes);
  }
}

void note_not_counted(Matrix& matrix, const wire::RankCalls& calls) {
  for (const wire::FunctionSums& sums : calls.functions) {
    if (is_one_of(kNotCounted, sums.name) &&
        std::ranges::find(matrix.not_counted, sums.name) == matrix.not_counted.end())
      matrix.not_counted.push_back(sums.name);
  }
}

bool has_threads_that_call(const Timeline& timeline, Rank rank) {
  for (int thread = 1; thread <= timeline.threads(rank); ++thread) {
    const timeline::Lane* lane = timeline.lane(wire::ThreadId{rank, thread});
    if (lane && lane->times(timeline.begin(), timeline.now())[std::size_t(timeline::Category::kWait)] > 0) return true;
  }
  return false;
}

/// What they send is counted unless it is not known how much it is or, where they start persistent requests, to whom; or they
/// are more than are watched.
bool may_send_by_threads(const Timeline& timeline, Rank rank, const wire::RankCalls& calls) {
  if (calls.unseen > 0) return true;
  const bool some_unsized = std::ranges::any_of(calls.functions, [](const wire::FunctionSums& sums) {
    return sums.unsized > 0 && is_one_of(kCounted, sums.name);
  });
  return some_unsized && has_threads_that_call(timeline, rank);
}

}  // namespace

std::vector<FunctionUse> functions_by_time(const Timeline& timeline) {
  std::map<std::string_view, FunctionUse> by_name;
  double all_s = 0;
  for (const auto& [rank, calls] : timeline.calls().all()) {
    for (const wire::FunctionSums& sums : calls.functions) {
      add(by_name[sums.name], sums, rank);
      all_s += double(sums.time.count()) * 1e-9;
    }
  }
  std::vector<FunctionUse> uses;
  for (auto& [name, use] : by_name) {
    use.name = name;
    use.share = all_s > 0 ? use.time_s / all_s : 0;
    uses.push_back(std::move(use));
  }
  std::ranges::stable_sort(uses, [](const FunctionUse& a, const FunctionUse& b) { return a.time_s > b.time_s; });
  return uses;
}

const char* to_words(Crossing crossing) {
  switch (crossing) {
    case Crossing::kNothing: return "none";
    case Crossing::kDomains: return "domains";
    case Crossing::kNodes: return "nodes";
    case Crossing::kUnknown: break;
  }
  return "unknown";
}

Crossing crossing_of(const Timeline& timeline, Rank from, Rank to) {
  const int mine = timeline.domain_of(from), theirs = timeline.domain_of(to);
  if (from == to) return Crossing::kNothing;
  if (mine < 0 || theirs < 0) return Crossing::kUnknown;
  if (mine == theirs) return Crossing::kNothing;
  const auto& domains = timeline.domains();
  return domains[std::size_t(mine)].node == domains[std::size_t(theirs)].node ? Crossing::kDomains : Crossing::kNodes;
}

std::optional<Matrix> find_matrix(const Timeline& timeline) {
  if (timeline.calls().empty()) return std::nullopt;
  Matrix matrix;
  for (const auto& [rank, calls] : timeline.calls().all()) {
    for (const wire::PairSums& pair : calls.pairs)
      add(matrix, {rank, pair.to, {pair.messages, pair.bytes}, crossing_of(timeline, rank, pair.to)});
    add(matrix.others, calls.other_messages, calls.other_bytes);
    add(matrix.all, calls.other_messages, calls.other_bytes);
    note_not_counted(matrix, calls);
    matrix.threads_may_send = matrix.threads_may_send || may_send_by_threads(timeline, rank, calls);
  }
  std::ranges::sort(matrix.pairs, [](const PairUse& a, const PairUse& b) {
    return std::tuple(b.traffic.bytes, a.from, a.to) < std::tuple(a.traffic.bytes, b.from, b.to);
  });
  return matrix;
}

std::shared_ptr<const MpiUse> MpiUseFinder::observe(const Timeline& timeline) {
  const bool is_new = timeline.calls().told() != told_;
  if (!is_new || (found_ && timeline.now() < next_ && !timeline.ended())) return found_;
  auto matrix = find_matrix(timeline);
  if (!matrix) return found_;
  found_ = std::make_shared<const MpiUse>(MpiUse{.functions = functions_by_time(timeline),
                                                 .matrix = std::move(*matrix),
                                                 .ranks = timeline.calls().all().size(),
                                                 .is_cut = timeline.calls().is_cut()});
  told_ = timeline.calls().told();
  next_ = (timeline.now() / kCountPeriod + 1) * kCountPeriod;
  return found_;
}

}  // namespace idlewave::analysis::session
