#include "workloads/collectives/payload.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace idlewave::collectives {
namespace {

struct Case {
  Rank ranks;
  std::size_t elements;
  Step step;
};

Case any_case(std::mt19937& random) {
  const auto whole = [&](int from, int to) { return std::uniform_int_distribution<>{from, to}(random); };
  return {whole(1, 12), static_cast<std::size_t>(whole(1, 9)), whole(0, 100'000)};
}

std::vector<Payload> filled(Collective collective, const Case& c) {
  std::vector<Payload> all;
  for (Rank rank = 0; rank < c.ranks; ++rank) all.emplace_back(collective, c.ranks, rank, c.elements).fill(c.step);
  return all;
}

/// What MPI is to do, in the most obvious way. Rank 0 is the root.
void communicate(Collective collective, std::vector<Payload>& all, std::size_t elements) {
  std::vector<std::int64_t> gathered;
  std::vector<std::int64_t> sum(elements);
  for (Payload& each : all) gathered.insert(gathered.end(), each.sent().begin(), each.sent().end());
  for (std::size_t i = 0; i < gathered.size(); ++i) sum[i % elements] += gathered[i];
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::vector<std::int64_t>& received = all[rank].received();
    switch (collective) {
      case Collective::kAllreduce: received = sum; break;
      case Collective::kAllgather: received = gathered; break;
      case Collective::kGather:
        if (rank == 0) received = gathered;
        break;
      case Collective::kScatter:
        std::copy_n(gathered.begin() + long(rank * elements), elements, received.begin());
        break;
    }
  }
}

class PayloadOf : public testing::TestWithParam<Collective> {};

TEST_P(PayloadOf, IsRightAfterWhatTheCollectiveIsDefinedToDo) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 100; ++i) {
    const Case c = any_case(random);
    std::vector<Payload> all = filled(GetParam(), c);
    communicate(GetParam(), all, c.elements);
    for (const Payload& each : all) EXPECT_EQ(each.wrong(c.step), 0u);
  }
}

TEST_P(PayloadOf, TellsEachElementThatIsWrongOrOfAnotherStep) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 100; ++i) {
    const Case c = any_case(random);
    std::vector<Payload> all = filled(GetParam(), c);
    communicate(GetParam(), all, c.elements);
    Payload& root = all.front();
    EXPECT_EQ(root.wrong(c.step + 1), root.received().size());
    ++root.received()[std::uniform_int_distribution<std::size_t>{0, root.received().size() - 1}(random)];
    EXPECT_EQ(root.wrong(c.step), 1u);
  }
}

TEST(Payload, TellsBlocksOfTwoRanksThatWereExchanged) {
  const Case c{4, 3, 5};
  std::vector<Payload> all = filled(Collective::kAllgather, c);
  communicate(Collective::kAllgather, all, c.elements);
  std::vector<std::int64_t>& received = all.front().received();
  std::swap_ranges(received.begin(), received.begin() + 3, received.begin() + 3);
  EXPECT_EQ(all.front().wrong(c.step), 6u);
}

INSTANTIATE_TEST_SUITE_P(Each, PayloadOf,
                         testing::Values(Collective::kAllreduce, Collective::kAllgather, Collective::kGather,
                                         Collective::kScatter),
                         [](const auto& each) { return std::string{name_of(each.param)}; });

}  // namespace
}  // namespace idlewave::collectives
