// A search that is cut into pieces finds to the bit what it finds in one go.

#include "monitor/analysis/partners/exchange_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

#include "monitor/analysis/partners/find_graph.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using wire::Step;

/// As the search looks for.
constexpr std::size_t kMostDistances = 6;

/// Steps of programs that exchange messages by some rule, all of them or a part of their ranks, with waits that last a
/// little longer or much longer than by the rule.
class RandomSamples {
 public:
  explicit RandomSamples(unsigned seed) : random_(seed) {}

  steps::StepSample next() {
    const Rank ranks = whole(2, 40);
    const auto width = std::size_t(whole(0, 2) ? ranks : whole(1, ranks));
    const partners::Exchange exchange = any_exchange();
    const double longer = whole(0, 2) ? real(0, 1e6) : 0, lost = whole(0, 3) ? 0 : 0.02;
    steps::StepSample sample(ranks, width);
    for (int row = whole(1, 24); row > 0; --row) add_row(exchange, longer, lost, sample);
    return sample;
  }
  /// Steps of more ranks than can be looked at together, and what they exchange by: eagerly, waiting once, in chains and
  /// rings.
  std::pair<steps::CommonSteps, partners::Exchange> next_of_many() {
    const Rank ranks = whole(1'300, 3'000);
    partners::Exchange exchange = any_exchange();
    while (exchange.distances.size() > kMostDistances) exchange = any_exchange();
    exchange.rendezvous = exchange.split = false, exchange.certain = true;
    std::ranges::sort(exchange.distances);
    steps::CommonSteps steps;
    steps.ranks.resize(std::size_t(ranks));
    partners::EndPredictor predictor(exchange);
    for (int k = whole(8, 20); k > 0; --k) {
      steps.numbers.push_back(Step(steps.numbers.size()));
      std::vector<double> posts(steps.ranks.size());
      for (double& post : posts) post = 1e9 * k + std::floor(real(0, whole(0, 50) ? 1e6 : 2e7));
      const auto ends = predictor.ends(posts);
      for (std::size_t rank = 0; rank < posts.size(); ++rank)
        steps.ranks[rank].push_back({.begin = Nanoseconds(std::int64_t(posts[rank]) - 1'000'000),
                                     .post = Nanoseconds(std::int64_t(posts[rank])),
                                     .end = Nanoseconds(std::int64_t(ends[rank]))});
    }
    return {std::move(steps), std::move(exchange)};
  }
  std::uint64_t budget() { return std::uint64_t(std::exp(real(0, std::log(3e6)))); }

 private:
  partners::Exchange any_exchange() {
    partners::Exchange exchange{
        .ring = whole(0, 1) == 1, .rendezvous = whole(0, 2) == 0, .split = whole(0, 2) == 0, .transfer = {}};
    while (exchange.distances.empty() || whole(0, 1))
      if (const Rank distance = whole(-4, 4);
          distance != 0 && std::ranges::find(exchange.distances, distance) == exchange.distances.end())
        exchange.distances.push_back(distance);
    exchange.transfer = Nanoseconds(whole(0, 1) * whole(0, 200'000));
    return exchange;
  }

  void add_row(const partners::Exchange& exchange, double longer, double lost, steps::StepSample& sample) {
    std::vector<double> posts(std::size_t(sample.ranks())), part(sample.width()), ends(sample.width());
    for (double& post : posts) post = std::floor(real(0, whole(0, 5) ? 1e6 : 2e7));
    partners::EndPredictor predictor(exchange);
    const auto predicted = predictor.ends(posts);
    const Rank first = whole(0, sample.ranks() - 1);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto rank = (std::size_t(first) + i) % posts.size();
      part[i] = real(0, 1) < lost ? std::nan("") : posts[rank];
      ends[i] = real(0, 1) < lost ? std::nan("") : std::floor(predicted[rank] + real(0, longer));
    }
    sample.add(first, part, ends);
  }

  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

  std::mt19937 random_;
};

/// How often it had to be called.
template <class Search, class Budget>
int advance_to_end(Search& search, Budget next_budget) {
  for (int calls = 1;; ++calls) {
    LookBudget budget(next_budget());
    if (!search.advance(budget)) return calls;
  }
}

std::string words_of(const partners::Exchange& e) {
  return fmt::format("{}, {}{}{}{}{}, {} ns", e.distances, e.ring ? "ring " : "chain ", e.certain ? "certain " : "",
                     e.declared ? "declared " : "", e.rendezvous ? "rendezvous " : "", e.split ? "split" : "",
                     e.transfer.count());
}

TEST(ExchangeSearch, FindsTheSameHoweverItsWorkIsCut) {
  const unsigned seed = any_seed();
  RandomSamples random(seed);
  for (int i = 0; i < 30; ++i) {
    const steps::StepSample sample = random.next();
    partners::ExchangeSearch search(sample);
    advance_to_end(search, [&] { return random.budget(); });
    EXPECT_EQ(words_of(search.found()), words_of(partners::find_exchange(sample)))
        << "sample " << i << " of seed " << seed;
  }
}

TEST(ExchangeSearch, FindsWhatManyRanksWaitForInStretchesOfThem) {
  const unsigned seed = any_seed();
  RandomSamples random(seed);
  for (int i = 0; i < 8; ++i) {
    const auto [steps, truth] = random.next_of_many();
    const steps::StepSample sample = steps::StepSample::of(steps);
    ASSERT_LE(sample.rows() * sample.width(), 11'000u);
    EXPECT_EQ(words_of(partners::find_exchange(sample)), words_of(truth))
        << "program " << i << " of " << steps.ranks.size() << " ranks, seed " << seed;
  }
}

TEST(ExchangeSearch, BreaksOffWhereItsBudgetIsSpent) {
  const unsigned seed = any_seed();
  RandomSamples random(seed);
  for (int i = 0; i < 10; ++i) {
    partners::ExchangeSearch small(random.next());
    const steps::StepSample sample = small.sample();
    partners::ExchangeSearch large(sample);
    const auto pass = std::uint64_t(sample.rows() * sample.width());
    const int steps = advance_to_end(small, [] { return 1; });
    const int calls = advance_to_end(large, [&] { return 100 * pass; });
    EXPECT_LT(calls, steps) << "sample " << i << " of seed " << seed;
    EXPECT_GE(steps, 8) << "rules of eight kinds are tried one by one";
  }
}

TEST(GraphSearch, FindsTheSameHoweverItsWorkIsCut) {
  const unsigned seed = any_seed();
  RandomSamples random(seed);
  for (int i = 0; i < 30; ++i) {
    const steps::StepSample sample = random.next();
    if (!sample.has_all_ranks()) continue;
    partners::GraphSearch whole(sample), cut(sample);
    LookBudget unlimited;
    EXPECT_FALSE(whole.advance(unlimited));
    advance_to_end(cut, [&] { return random.budget() / 100; });
    EXPECT_EQ(cut.found().awaited, whole.found().awaited) << "sample " << i << " of seed " << seed;
    EXPECT_EQ(cut.found().off, whole.found().off) << "sample " << i << " of seed " << seed;
  }
}

}  // namespace
}  // namespace idlewave::analysis
