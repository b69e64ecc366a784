// What hardware tells beside bandwidth, on the screen.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/view/screen/screen.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using ::testing::ContainsRegex, ::testing::HasSubstr, ::testing::Not;
using testing::ProgramPlan, testing::SyntheticSession;

/// Of whose first socket hardware tells more than bandwidth.
class MeteredSession : public SyntheticSession {
 public:
  explicit MeteredSession(const ProgramPlan& plan = {}) : SyntheticSession(plan) {
    wire::Roster roster;
    roster.world_size = timeline.ranks();
    for (const timeline::Domain& domain : timeline.domains()) {
      roster.domains.push_back(domain.info);
      for (const Rank rank : domain.ranks) roster.ranks.push_back({rank, 1, domain.info.id});
    }
    roster.meters = {{0, "package power", "W", "RAPL"},
                     {0, "DRAM power", "W", "RAPL"},
                     {0, "CPI", "", "LIKWID FLOPS_DP"},
                     {0, "a metric with a very long name", "MFLOP/s", "LIKWID FLOPS_DP"}};
    EXPECT_TRUE(timeline.apply_roster(plan.node, roster));
    findings.domains[0].meters = {{0, 97.31, 90}, {1, 12.04, 12}, {2, {}, 0.5}, {3, 2345.6, 1}};
  }
};

TEST(Meters, StandBelowBandwidth) {
  EXPECT_THAT(text({}, usual_session().model(), {160, 48}, kMonochrome), Not(HasSubstr("meters")));
  const MeteredSession one({.ranks = 10});
  const std::string wide = text({}, one.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(wide, ContainsRegex("meters +97\\.3 W package power · 12\\.0 W DRAM power ·"));
  EXPECT_THAT(wide, HasSubstr("? CPI ·"));
  EXPECT_THAT(wide, HasSubstr("2346 MFLOP/s a metric with a very long name"));
}

TEST(Meters, AreToldAsFarAsThereIsRoom) {
  const MeteredSession four;
  const std::string one_line_each = text({}, four.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(one_line_each, HasSubstr("97.3 W package power · 12.0 W DRAM power ·…"));
  EXPECT_THAT(one_line_each, Not(HasSubstr("CPI")));
  EXPECT_THAT(text({}, four.model(), {120, 30}, kMonochrome), HasSubstr("of 50 GB/s virtual · 97.3 W"));
  const MeteredSession ten({.ranks = 100});
  EXPECT_THAT(text({}, ten.model(), {120, 24}, kMonochrome), ContainsRegex("socket 0 .* 97\\.3 W"));
}

/// Where a machine has neither counters nor resctrl, a dozen lines that said so had the events' room.
TEST(SocketNote, SaysNoMoreThanThatThereIsMoreToBeSaid) {
  ProgramPlan plan{.ranks = 20, .length = std::chrono::seconds(1), .source = wire::BandwidthSource::kDeclared};
  for (int i = 0; i < 40; ++i) plan.note += fmt::format(" word{}", i);
  const SyntheticSession session(plan);
  const std::string shown = text({}, session.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown, ContainsRegex("bandwidth is declared: no access to counters"));
  EXPECT_THAT(shown, HasSubstr("'idlewave doctor' says more"));
  EXPECT_THAT(shown, Not(HasSubstr("word20")));
}

}  // namespace
}  // namespace idlewave::view
