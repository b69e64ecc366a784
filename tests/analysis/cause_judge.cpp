#include "tests/analysis/cause_judge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace idlewave::test {

using analysis::causes::Causes;
using analysis::causes::Cost;
using analysis::causes::Culprit;
using analysis::causes::RankCauses;
using wire::Nanoseconds;
using wire::Rank;

namespace {

/// What one rank waited, by cause; ranks below 0 are none.
using Blame = std::map<Rank, Cost>;
constexpr Rank kBandwidth = -1;
constexpr Rank kTransfer = -2;
constexpr Rank kUnknown = -3;

/// For each stretch of each wait, walks back from rank to rank until somebody was late by its own doing. Slow.
class Judge {
 public:
  Judge(const Table& table, const LastPost& last) : table_(table) {
    for (Rank rank = 0; rank < table.size(); ++rank) {
      auto& lasts = lasts_.emplace_back();
      for (std::size_t step = 0; step < table.ranks[std::size_t(rank)].size(); ++step)
        lasts.push_back(last(rank, int(step)));
    }
  }

  Blame blame(Rank rank) {
    blame_.clear();
    for (int step = 0; step < int(table_.ranks[std::size_t(rank)].size()); ++step) {
      blame_[kTransfer].far += transfer(rank, step);
      walk(rank, step, Nanoseconds{0}, caused(rank, step), 0);
    }
    return blame_;
  }

 private:
  Nanoseconds caused(Rank rank, int step) const {
    const Times& t = table_.at(rank, step);
    return std::max(Nanoseconds{0}, std::min(lasts_[std::size_t(rank)][std::size_t(step)].second, t.end) - t.post);
  }
  Nanoseconds transfer(Rank rank, int step) const {
    const Times& t = table_.at(rank, step);
    return t.end - t.post - caused(rank, step);
  }

  Nanoseconds shared(Rank rank, int step) const {
    const Times& t = table_.at(rank, step);
    return table_.alone > Nanoseconds{0} ? t.work_end - t.work_begin - table_.alone : Nanoseconds{0};
  }

  /// The stretch of the wait that lies from `depth` to `depth` + `length` before the post that ended it.
  void walk(Rank rank, int step, Nanoseconds depth, Nanoseconds length, int chain) {
    const Rank late = lasts_[std::size_t(rank)][std::size_t(step)].first;
    // Of whatever comes next on the way back: how much of it belongs to the stretch.
    const auto overlap = [&](Nanoseconds part) {
      const Nanoseconds inside = std::clamp(part - depth, Nanoseconds{0}, length);
      depth = std::max(Nanoseconds{0}, depth - part);
      length -= inside;
      return inside;
    };
    for (; length > Nanoseconds{0}; --step) {
      const Nanoseconds longer = std::max(Nanoseconds{0}, table_.at(late, step).own() - table_.at(rank, step).own());
      const Nanoseconds by_itself =
          std::clamp(longer - shared(late, step) + shared(rank, step), Nanoseconds{0}, longer);
      Cost& cost = blame_[late];
      (chain == 0 ? cost.direct : cost.far) += overlap(by_itself);
      blame_[kBandwidth].far += overlap(longer - by_itself);
      if (step == 0) break;
      const Nanoseconds slower = transfer(late, step - 1) - transfer(rank, step - 1);
      blame_[kTransfer].far += overlap(std::max(slower, Nanoseconds{0}));
      const Nanoseconds from = depth, inside = overlap(caused(late, step - 1));
      if (inside > Nanoseconds{0}) walk(late, step - 1, from, inside, chain + 1);
    }
    blame_[kUnknown].far += length;
  }

  const Table& table_;
  std::vector<std::vector<std::pair<Rank, Nanoseconds>>> lasts_;
  Blame blame_;
};

Blame blame_of(const RankCauses& causes, Rank rank) {
  Blame blame;
  for (const Culprit& culprit : causes.by) blame[culprit.rank] = culprit.cost;
  if (causes.itself > Nanoseconds{0}) blame[rank].far = causes.itself;
  blame[kBandwidth].far = causes.bandwidth;
  blame[kTransfer].far = causes.transfer;
  blame[kUnknown].far = causes.unknown;
  return blame;
}

std::string in_words(const Blame& blame) {
  std::string text;
  for (const auto& [rank, cost] : blame)
    if (cost.sum() > Nanoseconds{0}) text += fmt::format(" {}: {} + {},", rank, cost.direct.count(), cost.far.count());
  return text;
}

}  // namespace

analysis::causes::CauseGround ground_of(const timeline::Timeline& timeline, analysis::partners::Partners partners) {
  return {.partners = std::move(partners),
          .shares_bandwidth = analysis::causes::cause_ground(timeline).shares_bandwidth,
          .typical_step = ms(10)};
}

Nanoseconds told_waits(const timeline::Timeline& timeline, Rank rank) {
  Nanoseconds waited{};
  if (const timeline::Lane* lane = timeline.lane(rank))
    for (const timeline::StepRecord& record : lane->steps())
      if (record.end != Nanoseconds{0}) waited += record.wait + record.communicate;
  return waited;
}

void expect_conserved(const timeline::Timeline& timeline, const Causes& causes) {
  std::vector<Cost> costs(causes.ranks.size());
  ASSERT_EQ(Rank(causes.ranks.size()), timeline.ranks());
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const RankCauses& mine = causes.ranks[std::size_t(rank)];
    EXPECT_EQ(mine.waited, told_waits(timeline, rank)) << "rank " << rank;
    EXPECT_EQ(mine.waited, mine.by_others().sum() + mine.itself + mine.bandwidth + mine.transfer + mine.unknown)
        << "rank " << rank;
    for (const Nanoseconds part : {mine.itself, mine.bandwidth, mine.transfer, mine.unknown})
      EXPECT_GE(part, Nanoseconds{0});
    EXPECT_LE(mine.ended.sum(), mine.waited) << "rank " << rank;
    for (const Culprit& culprit : mine.by) {
      EXPECT_NE(culprit.rank, rank);
      costs[std::size_t(culprit.rank)].direct += culprit.cost.direct;
      costs[std::size_t(culprit.rank)].far += culprit.cost.far;
    }
  }
  for (std::size_t rank = 0; rank < costs.size(); ++rank) EXPECT_EQ(causes.ranks[rank].costs, costs[rank]);
}

void expect_as_judged(const Table& table, const Causes& causes, const LastPost& last, const std::string& what) {
  Judge judge(table, last);
  for (Rank rank = 0; rank < table.size(); ++rank) {
    Blame truth = judge.blame(rank), found = blame_of(causes.ranks[std::size_t(rank)], rank);
    std::erase_if(truth, [](const auto& each) { return each.second.sum() == Nanoseconds{0}; });
    std::erase_if(found, [](const auto& each) { return each.second.sum() == Nanoseconds{0}; });
    EXPECT_EQ(found, truth) << what << "\nrank " << rank << "\nfound" << in_words(found) << "\ntruth"
                            << in_words(truth);
  }
}

double share_given_to_others(const Table& table, const Causes& causes, const LastPost& last) {
  Judge judge(table, last);
  double other = 0, waited = 0;
  for (Rank rank = 0; rank < table.size(); ++rank) {
    const RankCauses& mine = causes.ranks[std::size_t(rank)];
    Blame both = blame_of(mine, rank);
    for (const auto& [cause, cost] : judge.blame(rank)) both[cause].direct -= cost.sum();
    for (const auto& [cause, cost] : both) other += 0.5 * std::abs(double(cost.sum().count()));
    waited += double(mine.waited.count());
  }
  return waited > 0 ? other / waited : 0;
}

}  // namespace idlewave::test
