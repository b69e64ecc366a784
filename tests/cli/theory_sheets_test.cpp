#include "monitor/cli/theory_sheets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace idlewave::cli {
namespace {

using Words = std::map<std::string, std::string>;

const Sheet& sheet(const std::string& name) { return *std::ranges::find(theory_sheets(), name, &Sheet::name); }

double told(const std::string& name, const std::string& key, const Words& words = {}) {
  const auto worked = work_out(sheet(name), words);
  EXPECT_TRUE(worked) << (worked ? "" : worked.error().message);
  if (!worked) return std::nan("");
  const auto found = std::ranges::find(worked->answer.told, key, &Told::key);
  EXPECT_NE(found, worked->answer.told.end()) << key;
  return found == worked->answer.told.end() ? std::nan("") : found->value;
}

/// As printed in the papers.
TEST(TheorySheets, HaveThePapersFigures) {
  EXPECT_NEAR(told("overlap", "bound"), 1.23, 0.005);          // Table 1
  EXPECT_NEAR(told("contention", "step_s"), 124.76e-3, 1e-5);  // Table II
  EXPECT_NEAR(told("contention", "step_s", {{"memory", "1.71ms"}, {"network", "200us"}}), 1.75e-3, 1e-5);
  EXPECT_NEAR(told("accelerators", "step_by_speed_s"), 1.46e-3, 5e-6);  // section VI
  EXPECT_NEAR(told("spmv", "flop_per_s"), 2.66e9, 5e6);                 // section 3.1
  EXPECT_NEAR(told("spmv", "kappa_measured"), 2.5, 0.05);
  EXPECT_DOUBLE_EQ(told("reserved-threads", "best_ratio"), 1 + 1 * (1 - 1.0 / 8));
  EXPECT_DOUBLE_EQ(told("chebfd", "code_balance_bytes_per_flop"), (260.0 / 32 + 80) / 146);  // eq. 3
  // Fig. 5c: the fronts run 3 to 1.
  const Words fig5c{{"distances", "1,-1,-2"}, {"wait", "split"}};
  EXPECT_DOUBLE_EQ(told("idle-wave", "ranks_per_step_down", fig5c), 3);
  EXPECT_DOUBLE_EQ(told("idle-wave", "ranks_per_step_up", fig5c), 1);
}

TEST(TheorySheets, SayWhichWaveNeverEnds) {
  EXPECT_TRUE(std::isinf(told("idle-wave", "reach_up_ranks", {{"active", "5"}}))) << "below saturation";
  EXPECT_EQ(told("idle-wave", "reach_down_ranks", {{"distances", "1"}}), 0) << "nobody waits there";
}

TEST(TheorySheets, LetCoupledOscillatorsComeToWhatTheirPotentialSays) {
  EXPECT_NEAR(told("oscillators", "parameter", {{"ranks", "8"}}), 1, 1e-9) << "scalable: lockstep";
  const Words apart{{"ranks", "8"}, {"topology", "chain"}, {"potential", "bottlenecked"}, {"sigma", "1.5"}};
  EXPECT_NEAR(told("oscillators", "gradient_rad", apart), 1, 1e-6) << "2 sigma / 3";
  EXPECT_DOUBLE_EQ(told("oscillators", "coupling_per_s", {{"protocol", "rendezvous"}, {"wait", "split"}}), 4 / 0.04);
}

TEST(TheorySheets, RefuseMoreActiveRanksThanThereAre) {
  const auto worked = work_out(sheet("idle-wave"), {{"active", "100"}});
  ASSERT_FALSE(worked);
  EXPECT_EQ(worked.error().message, "active: \"100\" is not a whole number from 1 to 40");
}

TEST(TheorySheets, SayWhatAnotherFigureLeaves) {
  const auto worked = work_out(sheet("reserved-threads"), {{"communication", "1"}});
  ASSERT_FALSE(worked);
  EXPECT_EQ(worked.error().message, "overlap: \"0.6\" is not 0, which is all that the other figures leave");
}

TEST(TheorySheets, RefuseOscillatorsThatCannotBe) {
  const auto why = [](const Words& words) {
    const auto worked = work_out(sheet("oscillators"), words);
    return worked ? "" : worked.error().message;
  };
  EXPECT_EQ(why({{"distances", "40"}}), "distances: 40 leads past 40 ranks");
  EXPECT_EQ(why({{"potential", "sine"}}), "potential: \"sine\" is none of scalable, bottlenecked, kuramoto");
  EXPECT_EQ(why({{"computation", "0s"}, {"communication", "0s"}}),
            "computation: with communication a step has to take time");
  EXPECT_TRUE(why({{"rank", "40"}}).starts_with("rank: ")) << why({{"rank", "40"}});
  EXPECT_TRUE(why({{"ranks", "100000"}, {"steps", "1000000"}}).starts_with("steps: too much"));
}

TEST(TheorySheets, NameTheKeyOfEveryWordThatTheyDoNotAccept) {
  for (const Sheet& each : theory_sheets()) {
    for (const Given& given : each.given) {
      for (const char* word : {"", "-", "nan", "-1e400", "1e400 parsecs", "0x1p3"}) {
        const auto worked = work_out(each, {{given.key, word}});
        ASSERT_FALSE(worked) << each.name << " " << given.key << "=" << word;
        EXPECT_TRUE(worked.error().message.starts_with(given.key + ": ")) << worked.error().message;
      }
    }
    EXPECT_FALSE(work_out(each, {{"no_key", "1"}}));
  }
}

TEST(TheorySheets, TellOfWhatTheyWereGivenInTheUnitsOfWhatTheyTell) {
  const auto worked = work_out(sheet("contention"), {{"memory", "2 min"}});
  ASSERT_TRUE(worked);
  EXPECT_EQ(worked->given.front(), std::pair(std::string("memory"), 120.0));
}

}  // namespace
}  // namespace idlewave::cli
