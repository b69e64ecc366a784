#include "probe/outlet/past.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include "probe/wire/codec.h"

namespace idlewave::outlet {
namespace {

std::size_t allocated() {
  const auto memory = mallinfo2();
  return memory.uordblks + memory.hblkhd;
}

/// Whose domains share one curve, which is told once.
wire::Roster unfolding_roster() {
  wire::Roster roster;
  roster.world_size = 4;
  roster.domains.resize(1000);
  for (std::size_t i = 0; i < roster.domains.size(); ++i) {
    roster.domains[i].id = wire::DomainId(i);
    roster.domains[i].curve.assign(4096, 1e9);
  }
  return roster;
}

TEST(Past, KeepsRostersAsTheyCameAndTellsThemWhole) {
  const wire::Roster roster = unfolding_roster();
  Past past;
  const std::size_t before = allocated();
  std::size_t told = 0;
  for (int node = 0; node < 20; ++node) {
    const auto frame = wire::encode({"s", "n" + std::to_string(node), 1, roster});
    told += frame.size();
    past.add(frame);
  }
  ASSERT_LT(told, 10u << 20);
  EXPECT_LT(allocated() - before, 2 * told + (1 << 20));
  const auto summary = past.summary();
  ASSERT_EQ(summary.size(), 20u);
  const auto first = wire::decode(summary[0]);
  ASSERT_TRUE(first);
  EXPECT_EQ(std::get<wire::Roster>(first->body), roster);
}

}  // namespace
}  // namespace idlewave::outlet
