#include "monitor/lesson/course.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace idlewave::lesson {
namespace {

using testing::HasSubstr;

constexpr const char* kProgram = R"([machine]
ranks = 40
ranks_per_domain = 10
core_bandwidth = "10 GB/s"
domain_bandwidth = "50 GB/s"
[program]
steps = 10
kernel = "memory"
volume = "1 MB"
[lesson]
title = "T"
summary = "S"
)";

constexpr const char* kPage = R"([[lesson.page]]
text = "{ranks} ranks, rank {rank} for {hold}, opposite {opposite}"
premise = "lockstep"
[lesson.page.ask]
question = "How many of {ranks_per_socket}?"
unit = "ranks"
tolerance = "1 rank"
answer = "{saturation} ranks"
hint = "Feed."
[lesson.page.do]
rank = 5
hold = "2 s"
[lesson.page.until]
wave = "ended"
[[lesson.page.check]]
path = "domains.1.active_mean"
theory = "{saturation} ranks"
tolerance = "1 rank"
[lesson.page.say]
near = "n"
far = "f"
none = "0"
)";

/// The whole file, with one part of its page replaced.
std::string file_with(const std::string& part, const std::string& instead) {
  std::string page = kPage;
  const auto at = page.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return kProgram + page.replace(at, part.size(), instead);
}

/// What is said of a file, by the reader of scenarios or by the one of lessons; empty: nothing.
std::string complaint_of(const std::string& file) {
  const auto scenario = support::parse_scenario(file, "l.toml");
  if (!scenario) return scenario.error().message;
  const auto course = make_course(*scenario, true);
  return course ? "" : course.error().message;
}

TEST(Course, HasTheNumbersOfTheRun) {
  const auto scenario = support::parse_scenario(file_with("hold = \"2 s\"", "hold = \"2 s\""), "l.toml",
                                                std::vector<std::string>{"machine.ranks=20"});
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto course = make_course(*scenario, false);
  ASSERT_TRUE(course) << course.error().message;
  const Page& page = course->pages.at(0);
  EXPECT_EQ(page.text, "20 ranks, rank 5 for 2 s, opposite 15");
  EXPECT_EQ(page.ask->question, "How many of 10?");
  EXPECT_EQ(std::get<double>(page.ask->answer), 5);
  EXPECT_EQ(std::get<double>(page.checks.at(0).theory), 5);
  EXPECT_EQ(page.order->ranks, std::vector<wire::Rank>{5});
  EXPECT_TRUE(page.needs_lockstep);
}

TEST(Course, HoldsAnotherRankWhereThereAreFewer) {
  const auto scenario = support::parse_scenario(file_with("rank = 5", "rank = 25"), "l.toml",
                                                std::vector<std::string>{"machine.ranks=20"});
  const auto course = make_course(*scenario, false);
  ASSERT_TRUE(course) << course.error().message;
  EXPECT_EQ(course->pages[0].order->ranks, std::vector<wire::Rank>{5});
}

TEST(Course, MeasuresNoSocketThatIsNotThereAsItIsPlayed) {
  const auto scenario = support::parse_scenario(file_with("rank = 5", "rank = 5"), "l.toml",
                                                std::vector<std::string>{"machine.ranks=10"});
  const auto course = make_course(*scenario, false);
  ASSERT_FALSE(course);
  EXPECT_THAT(course.error().message, HasSubstr("there is no socket 1: this scenario has sockets 0 to 0"));
}

struct Mistake {
  const char* part;
  const char* instead;
  const char* says;
};

TEST(Course, NamesThePlaceOfAMistakeAndWhatWouldBeAccepted) {
  const std::vector<Mistake> mistakes = {
      {"domains.1.active_mean", "domains.1.active",
       "lesson.page.check.path: no finding is at \"domains.1.active\"; accepted"},
      {"domains.1.active_mean", "domains.4.active_mean",
       "lesson.page.check.path: there is no socket 4: this scenario has sockets 0 to 3"},
      {"domains.1.active_mean", "domains.-5.active_mean", "there is no socket -5"},
      {"premise = \"lockstep\"", "premise = \"lockstep\"\npremise_sockets = [3, 4]",
       "lesson.page.premise_sockets: there is no socket 4: this scenario has sockets 0 to 3"},
      {"premise = \"lockstep\"", "premise_sockets = [3]", "lesson.page.premise: is missing"},
      {"unit = \"ranks\"", "unit = \"sockets\"", "lesson.page.ask.unit: \"sockets\" is none of ranks, ranks/step"},
      {"unit = \"ranks\"", "unit = \"s\"",
       "lesson.page.ask.answer: \"5 ranks\" is no number in s; write it as in 400 ms"},
      {"unit = \"ranks\"\ntolerance = \"1 rank\"\nanswer = \"{saturation} ranks\"",
       "unit = \"s\"\ntolerance = \"1 ms\"\nanswer = \"1 s\"",
       "lesson.page.ask.unit: must be the unit of what is checked first: \"ranks\""},
      {"tolerance = \"1 rank\"\nanswer", "tolerance = \"1\"\nanswer",
       "lesson.page.ask.tolerance: \"1\" is no number in ranks; write it as in 12 ranks"},
      {"tolerance = \"1 rank\"\nanswer", "tolerance = 1\nanswer",
       "lesson.page.ask.tolerance: must be a text in quotes"},
      {"tolerance = \"1 rank\"\nanswer", "tolerance = \"-1 rank\"\nanswer",
       "lesson.page.ask.tolerance: must not be below zero"},
      {"tolerance = \"1 rank\"\nanswer", "answer",
       "lesson.page.ask.tolerance: is missing; write tolerance = \"1 ranks\""},
      {"tolerance = \"1 rank\"\n[lesson.page.say]", "[lesson.page.say]",
       "lesson.page.check.path: needs a tolerance in ranks: add tolerance"},
      {"question = \"How many of {ranks_per_socket}?\"", "", "lesson.page.ask.question: is missing"},
      {"unit = \"ranks\"", "choices = [\"a\", \"b\"]",
       "lesson.page.ask.tolerance: goes with a number; leave it out beside choices"},
      {"unit = \"ranks\"\ntolerance = \"1 rank\"\nanswer = \"{saturation} ranks\"",
       "choices = [\"yes\", \"no\"]\nanswer = \"maybe\"",
       "lesson.page.ask.answer: \"maybe\" is none of the choices: yes, no"},
      {"unit = \"ranks\"\ntolerance = \"1 rank\"\nanswer = \"{saturation} ranks\"",
       "choices = [\"yes\"]\nanswer = \"yes\"", "lesson.page.ask.choices: must be two to 9"},
      {"unit = \"ranks\"\ntolerance = \"1 rank\"\nanswer = \"{saturation} ranks\"",
       "choices = [\"yes\", \"no\", \"yes\"]\nanswer = \"yes\"", "lesson.page.ask.choices: \"yes\" stands there twice"},
      {"domains.1.active_mean", "waves.1.up.reach_ranks",
       "lesson.page.check.path: there is no wave 1: by this page the lesson has held ranks for waves 0 to 0"},
      {"tolerance = \"1 rank\"\n[lesson.page.say]",
       "tolerance = \"1 rank\"\nbeside = \"waves.-2.delay_s\"\n[lesson.page.say]",
       "lesson.page.check.beside: there is no wave -2: by this page"},
      {"rank {rank} for", "rank {rnak} for",
       "lesson.page: {rnak} stands for no number here; known: {ranks}, {sockets}, {ranks_per_socket}, {saturation}, "
       "{rank}, {opposite}, {hold}"},
      {"near = \"n\"", "near = \"{sokets}\"", "lesson.page: {sokets} stands for no number here"},
      {"hint = \"Feed.\"", "hint = \"{feed}\"", "lesson.page: {feed} stands for no number here"},
      {"How many of {ranks_per_socket}?", "How many of {ranks_per_domain}?",
       "lesson.page: {ranks_per_domain} stands for no number here"},
      {"rank = 5", "rank = 40", "lesson.page.do: there is no rank 40: this scenario has ranks 0 to 39"},
      {"rank = 5", "noise = \"exp:1ms\"", "lesson.page.do.hold: and noise exclude each other"},
      {"rank = 5\nhold = \"2 s\"\n[lesson.page.until]\nwave = \"ended\"", "noise = \"exp:1\"\n[lesson.page.until]",
       "lesson.page.do.noise: "},
      {"hold = \"2 s\"", "hold = \"2\"", "lesson.page.do.hold: "},
      {"hold = \"2 s\"", "hold = \"2 h\"", "lesson.page.do.hold: "},
      {"[lesson.page.do]\nrank = 5\nhold = \"2 s\"", "",
       "lesson.page.until.wave: needs a rank that is held on this page"},
      {"wave = \"ended\"", "wave = \"begun\"", "lesson.page.until.wave: \"begun\" is not one of ended"},
      {"wave = \"ended\"", "at_most = \"1 s\"", "lesson.page.until.at_most: must not be less than stable"},
      {"premise = \"lockstep\"", "premise = \"order\"", "lesson.page.premise: \"order\" is not one of lockstep"},
      {"premise = \"lockstep\"", "after = \"far\"", "lesson.page.after: leads nowhere: the page can't be reached"},
      {"[[lesson.page.check]]\npath = \"domains.1.active_mean\"\ntheory = \"{saturation} ranks\"\ntolerance = \"1 "
       "rank\"",
       "", "lesson.page.ask: goes with a figure that is measured; add [[lesson.page.check]]"},
      {"[lesson.page.say]\nnear = \"n\"\nfar = \"f\"\nnone = \"0\"", "", "lesson.page.say: is missing"},
      {"near = \"n\"", "nigh = \"n\"", "lesson.page.say.nigh: is not known here; known: near, far, none"},
      {"text = ", "txt = ", "lesson.page.text: is missing"},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string complaint = complaint_of(file_with(mistake.part, mistake.instead));
    EXPECT_THAT(complaint, testing::StartsWith("l.toml:")) << mistake.says;
    EXPECT_THAT(complaint, HasSubstr(mistake.says));
    EXPECT_EQ(complaint.find('\n'), std::string::npos);
  }
}

TEST(Course, NamesTheLineOfAPageThatCantBeReached) {
  const std::string second = "[[lesson.page]]\ntext = \"t\"\nafter = \"far\"\n";
  EXPECT_EQ(complaint_of(std::string(kProgram) + kPage + second), "")
      << "the page before asks, so one can be far from it";
  const std::string unasked = std::string(kProgram) + "[[lesson.page]]\ntext = \"t\"\n" + second;
  EXPECT_EQ(complaint_of(unasked),
            "l.toml:17: lesson.page.after: leads nowhere: the page can't be reached, as the one before it measures "
            "nothing; leave it out");
}

TEST(Course, MeasuresNoWaveThatNoPageHasMadeYet) {
  const auto page = [](const std::string& order, const std::string& path) {
    return fmt::format(
        "[[lesson.page]]\ntext = \"t\"\n{}[lesson.page.until]\nstable = \"5 s\"\n[[lesson.page.check]]\npath = "
        "\"{}\"\ntheory = \"1 s\"\ntolerance = \"1 s\"\n[lesson.page.say]\n",
        order, path);
  };
  const std::string hold = "[lesson.page.do]\nrank = 1\nhold = \"1 s\"\n",
                    noise = "[lesson.page.do]\nnoise = \"exp:1ms\"\n";
  const auto said = [&](const std::string& first, const std::string& second) {
    return complaint_of(kProgram + first + second);
  };
  EXPECT_EQ(said(page(hold, "waves.-1.delay_s"), page(hold, "waves.1.delay_s")), "");
  EXPECT_EQ(said(page(hold, "waves.0.delay_s"), page("", "waves.-1.delay_s")), "") << "the one of the page before";
  EXPECT_THAT(said(page(hold, "waves.0.delay_s"), page(hold, "waves.2.delay_s")), HasSubstr("for waves 0 to 1"));
  EXPECT_THAT(said(page(noise, "waves.-1.delay_s"), ""),
              HasSubstr("lesson.page.check.path: there is no wave, as no rank has been held by this page"));
}

TEST(Course, TakesBracesThatNameNothingAsTheyAre) {
  EXPECT_EQ(complaint_of(file_with("hint = \"Feed.\"", "hint = \"{} {-1, 1} {N} {a b} { c } {\"")), "");
}

TEST(Course, WantsOneOfTheWordsOfAFindingThatIsOne) {
  const std::string check = "path = \"domains.1.active_mean\"\ntheory = \"{saturation} ranks\"\ntolerance = \"1 rank\"";
  const std::string ask = "unit = \"ranks\"\ntolerance = \"1 rank\"\nanswer = \"{saturation} ranks\"";
  const auto with = [&](const std::string& instead) {
    std::string file = file_with(ask, "choices = [\"a\", \"b\"]\nanswer = \"a\"");
    return file.replace(file.find(check), check.size(), instead);
  };
  EXPECT_EQ(complaint_of(with("path = \"waves.-1.up.end\"\ntheory = \"annihilated\"")), "");
  EXPECT_THAT(complaint_of(with("path = \"waves.-1.up.end\"\ntheory = \"gone\"")),
              HasSubstr("lesson.page.check.theory: \"gone\" is none of annihilated, boundary"));
  EXPECT_THAT(complaint_of(with("path = \"waves.-1.up.end\"\ntheory = \"annihilated\"\ntolerance = \"1 rank\"")),
              HasSubstr("lesson.page.check.tolerance: goes with a number"));
}

constexpr const char* kPlayed = R"([play]
program = "iw-hybrid"
ranks = 2
[lesson]
title = "T"
summary = "S"
[[lesson.page]]
text = "{ranks} ranks"
[lesson.page.ask]
question = "How many times?"
unit = "times"
tolerance = "0.2 times"
answer = "1.8 times"
[lesson.page.until]
program = "ended"
[[lesson.page.check]]
path = "program.runs.1.ratio"
unit = "times"
label = "speed"
theory = "at least 1.6 times"
tolerance = "0.1 times"
[lesson.page.say]
near = "n"
)";

/// The complaint of a lesson that plays a program, with one part replaced; empty: none.
std::string complaint_of_played(const std::string& part, const std::string& instead) {
  std::string text = kPlayed;
  EXPECT_NE(text.find(part), std::string::npos) << part;
  text.replace(text.find(part), part.size(), instead);
  const auto scenario = support::parse_lesson(text, "l.toml");
  if (!scenario) return scenario.error().message;
  const auto course = make_course(*scenario, true);
  return course ? "" : course.error().message;
}

TEST(Course, ChecksWhatItsProgramSaysInTheUnitOfTheLesson) {
  const auto scenario = support::parse_lesson(kPlayed, "l.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto course = make_course(*scenario, true);
  ASSERT_TRUE(course) << course.error().message;
  EXPECT_EQ(course->program, "iw-hybrid");
  EXPECT_EQ(course->pages[0].text, "2 ranks");
  const Check& check = course->pages[0].checks.at(0);
  EXPECT_EQ(check.figure.label(), "speed");
  EXPECT_EQ(theory_in_words(check), "at least 1.6 times");
  for (const auto& [measured, as_said] : {std::pair{1.4, false}, {1.55, true}, {1.6, true}, {9.0, true}})
    EXPECT_EQ(holds(check, measured), as_said) << measured;
}

TEST(Course, HoldsAtMostAndAboutWithinTheirTolerance) {
  Check check{
      .figure = figure_of_program("program.x", "times", "x"), .theory = 2.0, .sense = Sense::kAtMost, .tolerance = 0.5};
  for (const auto& [measured, as_said] : {std::pair{-9.0, true}, {2.5, true}, {2.6, false}})
    EXPECT_EQ(holds(check, measured), as_said) << measured;
  check.sense = Sense::kAbout;
  for (const auto& [measured, as_said] : {std::pair{1.4, false}, {1.5, true}, {2.5, true}, {2.6, false}})
    EXPECT_EQ(holds(check, measured), as_said) << measured;
  EXPECT_FALSE(holds(check, "a word"));
}

TEST(Course, NamesThePlaceOfAMistakeInWhatAProgramIsToSay) {
  const std::vector<Mistake> mistakes = {
      {"program = \"ended\"", "stable = \"1 s\"",
       "l.toml:17: lesson.page.check.path: is known once the program has ended; give [lesson.page.until] program = "
       "\"ended\""},
      {"{ranks} ranks", "{sockets} sockets",
       "l.toml:7: lesson.page: {sockets} stands for no number here; known: {ranks}"},
      {"program = \"ended\"", "program = \"over\"",
       "l.toml:15: lesson.page.until.program: \"over\" is not one of ended"},
      {"program = \"ended\"", "program = \"ended\"\nstable = \"1 s\"",
       "l.toml:16: lesson.page.until.stable: and program exclude each other"},
      {"label = \"speed\"\n", "", "l.toml:16: lesson.page.check.label: is missing; write label = \"time of a step\""},
      {"unit = \"times\"\nlabel", "unit = \"apples\"\nlabel",
       "l.toml:18: lesson.page.check.unit: \"apples\" is none of ranks, "},
      {"unit = \"times\"\nlabel", "unit = \"s\"\nlabel", "lesson.page.check.theory: \"1.6 times\" is no number in s"},
      {"tolerance = \"0.1 times\"", "tolerance = \"0.1\"",
       "lesson.page.check.tolerance: \"0.1\" is no number in times; write it as in 1.5 times"},
      {"tolerance = \"0.1 times\"\n", "", "lesson.page.check.path: needs a tolerance in times"},
      {"program.runs.1.ratio", "program.runs.1.ratios",
       "l.toml:17: lesson.page.check.path: iw-hybrid tells no \"runs.1.ratios\"; accepted, with a place for N (-1 is "
       "the "
       "last): size.N, processes, "},
      {"program.runs.1.ratio", "program.runs.x.ratio", "iw-hybrid tells no \"runs.x.ratio\""},
      {"program.runs.1.ratio", "program.runs", "iw-hybrid tells no \"runs\""},
      {"program.runs.1.ratio", "runs.1.ratio", "lesson.page.check.unit: goes with a path that begins with program."},
      {"theory = \"at least 1.6 times\"", "theory = \"at least 1.6 times\"\nbeside = \"program.x\"",
       "lesson.page.check.beside: "},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string complaint = complaint_of_played(mistake.part, mistake.instead);
    EXPECT_THAT(complaint, testing::StartsWith("l.toml:")) << mistake.says;
    EXPECT_THAT(complaint, HasSubstr(mistake.says));
    EXPECT_EQ(complaint.find('\n'), std::string::npos);
  }
}

/// The complaint of a lesson that looks at a socket of a program with these keys of [play]; empty: none.
std::string complaint_of_socket(const std::string& play, int socket) {
  const auto scenario = support::parse_lesson(fmt::format(R"([play]
{}
[lesson]
title = "T"
summary = "S"
[[lesson.page]]
text = "t"
[lesson.page.until]
program = "ended"
[[lesson.page.check]]
path = "domains.{}.active_mean"
theory = "4 ranks"
tolerance = "1 rank"
[lesson.page.say]
near = "n"
)",
                                                          play, socket),
                                              "l.toml");
  if (!scenario) return scenario.error().message;
  const auto course = make_course(*scenario, true);
  return course ? "" : course.error().message;
}

TEST(Course, KnowsTheSocketsOfAProgramByItsArguments) {
  const std::string chebfd = "program = \"iw-chebfd\"\nranks = 20\n";
  EXPECT_EQ(complaint_of_socket(chebfd, 1), "");
  EXPECT_EQ(complaint_of_socket(chebfd, 7),
            "l.toml:13: lesson.page.check.path: there is no socket 7: this scenario has sockets 0 to 1");
  EXPECT_EQ(complaint_of_socket(chebfd + "arguments = [\"--ranks-per-domain\", \"2\"]", 7), "");
  EXPECT_THAT(complaint_of_socket(chebfd + "arguments = [\"--ranks-per-domain=4\"]", 7), HasSubstr("sockets 0 to 4"));
  EXPECT_EQ(complaint_of_socket("program = \"iw-hybrid\"\nranks = 2", 7), "") << "that has no virtual sockets";
}

TEST(Course, WaitsForTheEndOfAProgramOnlyWhereItPlaysOne) {
  EXPECT_THAT(complaint_of(file_with("wave = \"ended\"", "program = \"ended\"")),
              HasSubstr("lesson.page.until.program: needs a program that ends; add [play]"));
  EXPECT_THAT(complaint_of(file_with("path = \"domains.1.active_mean\"", "path = \"program.x\"\nlabel = \"x\"")),
              HasSubstr("lesson.page.check.path: needs a program that says it; add [play]"));
}

TEST(Course, OfAsynchronousProgressSeesWhatAnyMpiDoes) {
  const auto scenario = support::load_lesson(std::filesystem::path(IDLEWAVE_SCENARIOS) / "asynchronous-progress.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const auto course = make_course(*scenario, true);
  ASSERT_TRUE(course) << course.error().message;
  for (const double hidden : {0.0, 0.5, 1.0})
    for (const Check& check : course->pages.at(0).checks) EXPECT_TRUE(holds(check, hidden)) << hidden;
  EXPECT_TRUE(course->pages.at(0).ask->choices.empty()) << "an answer is held against what was measured";
}

TEST(Course, IsSoundInEachLessonThatIsShipped) {
  int lessons = 0;
  for (const auto& entry : std::filesystem::directory_iterator(IDLEWAVE_SCENARIOS)) {
    if (entry.path().extension() != ".toml") continue;
    const auto scenario = support::load_lesson(entry.path());
    ASSERT_TRUE(scenario) << scenario.error().message;
    if (!scenario->lesson) continue;
    ++lessons;
    const auto course = make_course(*scenario, true);
    ASSERT_TRUE(course) << course.error().message;
    ASSERT_FALSE(course->pages.empty()) << entry.path();
    for (const Page& page : course->pages) {
      EXPECT_EQ(page.text.find('{'), std::string::npos) << page.text;
      EXPECT_FALSE(page.ask && page.ask->hint.empty()) << entry.path();
      EXPECT_FALSE(!page.checks.empty() && (page.say.near.empty() || page.say.none.empty())) << entry.path();
    }
  }
  EXPECT_GE(lessons, 8);
}

}  // namespace
}  // namespace idlewave::lesson
