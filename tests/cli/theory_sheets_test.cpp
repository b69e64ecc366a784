#include "monitor/cli/theory_sheets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace idlewave::cli {
namespace {

using Words = std::map<std::string, std::string>;

const Sheet& sheet(const std::string& name) { return *find_sheet(name); }

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
  EXPECT_NEAR(told("noise-bound", "bound"), 1.23, 0.005);    // Table 1
  EXPECT_NEAR(told("noise-bound", "speedup"), 1.23, 0.005);  // which that program comes to
  EXPECT_DOUBLE_EQ(told("noise-bound", "speedup", {{"collectives", "0.5"}}), 5.37 / (0.5 * 4.37 + 0.5 * 5.37));
  EXPECT_DOUBLE_EQ(told("noise-bound", "speedup", {{"collectives", "0"}, {"inflation", "3"}}), 1);
  EXPECT_DOUBLE_EQ(told("noise-bound", "speedup", {{"beta", "2"}, {"inflation", "2"}}), 2);  // section 4.1
  EXPECT_NEAR(told("contention", "step_s"), 124.76e-3, 1e-5);                                // Table II
  EXPECT_NEAR(told("contention", "step_s", {{"memory", "1.71ms"}, {"network", "200us"}}), 1.75e-3, 1e-5);
  EXPECT_NEAR(told("accelerators", "step_by_speed_s"), 1.46e-3, 5e-6);  // section VI
  EXPECT_NEAR(told("spmv-balance", "flop_per_s"), 2.66e9, 5e6);         // section 3.1
  EXPECT_NEAR(told("spmv-balance", "kappa_measured"), 2.5, 0.05);
  EXPECT_DOUBLE_EQ(told("hybrid-ratio", "best_ratio"), 1 + 1 * (1 - 1.0 / 8));
  EXPECT_DOUBLE_EQ(told("chebfd", "code_balance_bytes_per_flop"), (260.0 / 32 + 80) / 146);  // eq. 3
  // Fig. 5c: the fronts run 3 to 1.
  const Words fig5c{{"distances", "1,-1,-2"}, {"wait", "split"}};
  EXPECT_DOUBLE_EQ(told("speed", "ranks_per_step_down", fig5c), 3);
  EXPECT_DOUBLE_EQ(told("speed", "ranks_per_step_up", fig5c), 1);
}

// design/interfaces.md, and what they were called before.
TEST(TheorySheets, AreFoundByTheirNamesOfTheContractAndByTheirEarlierOnes) {
  const std::map<std::string, std::string> names{{"speed", "idle-wave"},
                                                 {"noise-bound", "overlap"},
                                                 {"hybrid-ratio", "reserved-threads"},
                                                 {"spmv-balance", "spmv"},
                                                 {"contention", "contention"}};
  for (const auto& [name, earlier] : names) {
    ASSERT_NE(find_sheet(name), nullptr) << name;
    EXPECT_EQ(find_sheet(name)->name, name);
    EXPECT_EQ(find_sheet(earlier), find_sheet(name)) << earlier;
  }
  EXPECT_EQ(find_sheet(""), nullptr);
}

// Section 4.3 of widener-2016, and Fig. 10.
TEST(TheorySheets, CountWhoDependsOnWhomInACollective) {
  EXPECT_EQ(told("dependencies", "tree_direct"), 7);
  EXPECT_EQ(told("dependencies", "dissemination_direct"), 24);
  EXPECT_EQ(told("dependencies", "broadcast_delayed"), 7) << "all depend on the root";
  EXPECT_EQ(told("dependencies", "reduction_delayed"), 0) << "the root has no ancestor";
  EXPECT_GT(told("dependencies", "direct_ratio", {{"ranks", "32768"}}), 15);
}

// physics.md: "a delay D reaches about D / mu ranks", in one direction.
TEST(TheorySheets, SayWhereNoiseHasUsedUpADelay) {
  const Words noisy{{"distances", "1"}, {"delay", "1.2s"}, {"noise", "15ms"}};
  EXPECT_DOUBLE_EQ(told("speed", "reach_noise_up_ranks", noisy), 80);
  EXPECT_DOUBLE_EQ(told("speed", "reach_noise_down_ranks", noisy), 0) << "nobody waits there";
  EXPECT_TRUE(std::isinf(told("speed", "reach_noise_up_ranks")));
}

TEST(TheorySheets, TellOfAllThatTheyWereGiven) {
  const auto worked = work_out(sheet("speed"), {{"distances", "1,-1,-2"}, {"protocol", "rendezvous"}});
  ASSERT_TRUE(worked);
  support::Json given;
  for (const Taken& each : worked->given) given[each.key] = each.value;
  EXPECT_EQ(given.at("distances.2").as_number(), -2);
  EXPECT_EQ(given.at("protocol").as_text(), "rendezvous");
  EXPECT_EQ(given.at("wait").as_text(), "all");
  for (const Sheet& each : theory_sheets()) {
    const auto of_the_paper = work_out(each, {});
    ASSERT_TRUE(of_the_paper);
    EXPECT_EQ(of_the_paper->given.size(), each.given.size()) << each.name;
  }
}

TEST(TheorySheets, AcceptTheEndsOfTheRangesThatTheyName) {
  for (const Sheet& each : theory_sheets()) {
    const auto worked = work_out(each, {});
    ASSERT_TRUE(worked);
    for (const Taken& taken : worked->given) {
      EXPECT_FALSE(in_words(taken.accepted).empty());
      if (taken.accepted.unit.empty()) continue;
      const auto accepts = [&](double value) {
        const auto tried = work_out(each, {{taken.key, fmt::format("{:.12g}", value)}});
        return tried || !tried.error().message.starts_with(taken.key + ": \"");
      };
      SCOPED_TRACE(fmt::format("{} {}: {}", each.name, taken.key, in_words(taken.accepted)));
      const bool moves_others = taken.key == "ranks" || taken.key == "threads" || taken.key == "communication";
      EXPECT_TRUE(moves_others || accepts(taken.accepted.least));
      EXPECT_FALSE(accepts(taken.accepted.least - 1));
      if (!std::isfinite(taken.accepted.most)) continue;
      EXPECT_TRUE(moves_others || accepts(taken.accepted.most));
      EXPECT_FALSE(accepts(taken.accepted.most + 1));
    }
  }
}

TEST(TheorySheets, NarrowARangeByWhatTheOtherFiguresLeave) {
  const auto worked =
      work_out(sheet("hybrid-ratio"), {{"threads", "4"}, {"communication", "0.25"}, {"overlap", "0.5"}});
  ASSERT_TRUE(worked);
  const auto accepted = [&](std::string_view key) {
    return in_words(std::ranges::find(worked->given, key, &Taken::key)->accepted);
  };
  EXPECT_EQ(accepted("threads"), "threads, 2 to 1000000");
  EXPECT_EQ(accepted("reserved"), "threads, 1 to 3");
  EXPECT_EQ(accepted("overlap"), "share, 0 to 0.75");
}

TEST(TheorySheets, SayWhichWaveNeverEnds) {
  EXPECT_TRUE(std::isinf(told("speed", "reach_up_ranks", {{"active", "5"}}))) << "below saturation";
  EXPECT_EQ(told("speed", "reach_down_ranks", {{"distances", "1"}}), 0) << "nobody waits there";
}

TEST(TheorySheets, LetCoupledOscillatorsComeToWhatTheirPotentialSays) {
  EXPECT_NEAR(told("oscillators", "parameter", {{"ranks", "8"}}), 1, 1e-9) << "scalable: lockstep";
  const Words apart{{"ranks", "8"}, {"topology", "chain"}, {"potential", "bottlenecked"}, {"sigma", "1.5"}};
  EXPECT_NEAR(told("oscillators", "gradient_rad", apart), 1, 1e-6) << "2 sigma / 3";
  EXPECT_DOUBLE_EQ(told("oscillators", "coupling_per_s", {{"protocol", "rendezvous"}, {"wait", "split"}}), 4 / 0.04);
}

TEST(TheorySheets, RefuseMoreActiveRanksThanThereAre) {
  const auto worked = work_out(sheet("speed"), {{"active", "100"}});
  ASSERT_FALSE(worked);
  EXPECT_EQ(worked.error().message, "active: \"100\" is not a whole number from 1 to 40");
}

TEST(TheorySheets, SayWhatAnotherFigureLeaves) {
  const auto worked = work_out(sheet("hybrid-ratio"), {{"communication", "1"}});
  ASSERT_FALSE(worked);
  EXPECT_EQ(worked.error().message,
            "overlap: \"0.6\" is not 0, which is all that the other figures leave; it is 0.6 unless you say otherwise: "
            "overlap=...");
  for (int hundredths = 0; hundredths <= 100; ++hundredths) {
    const std::string share = fmt::format("{}", hundredths / 100.0),
                      rest = fmt::format("{}", (100 - hundredths) / 100.0);
    EXPECT_TRUE(work_out(sheet("hybrid-ratio"), {{"communication", share}, {"overlap", rest}})) << share;
  }
  const auto beyond = work_out(sheet("hybrid-ratio"), {{"communication", "0.9"}, {"overlap", "0.11"}});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message, "overlap: \"0.11\" is not a number from 0 to 0.1");
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
  EXPECT_EQ(worked->given.front().key, "memory");
  EXPECT_EQ(worked->given.front().value.as_number(), 120.0);
}

}  // namespace
}  // namespace idlewave::cli
