// What stands around the map: the title above, the ranks' numbers beside it, and what a step is made of below.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "monitor/view/layout/step_window.h"
#include "monitor/view/screen/screen.h"
#include "tests/any_seed.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using std::chrono::microseconds;
using ::testing::AllOf, ::testing::HasSubstr, ::testing::Not;
using testing::SyntheticSession;

constexpr Look kPlain{.colours = ColourDepth::kNone, .unicode = false, .cheap_scroll = true};

/// In the order of the lines.
std::vector<int> ranks_named_in(const std::string& screen, std::size_t columns) {
  std::vector<int> ranks;
  std::istringstream lines(screen);
  for (std::string line; std::getline(lines, line);) {
    const std::string left = line.substr(0, columns);
    const std::size_t at = left.find_first_not_of(' ');
    if (at != std::string::npos && std::isdigit(static_cast<unsigned char>(left[at])))
      ranks.push_back(std::stoi(left.substr(at)));
  }
  return ranks;
}

TEST(RankAxis, NamesEveryRankThatHasTwoLinesToItself) {
  constexpr paint::Size kSize{80, 24};
  for (Rank ranks = 2; ranks <= 6; ++ranks) {
    const SyntheticSession session({.ranks = ranks,
                                    .ranks_per_socket = ranks,
                                    .saturated_bandwidth = 50e9,
                                    .delayed_rank = 1,
                                    .length = std::chrono::seconds(1)});
    State state;
    state.cursor_rank = ranks - 1;
    const std::string screen = paint::to_text(screen::draw(state, session.model(), kSize, kPlain));
    std::vector<int> all(std::size_t(ranks) - 1);  // The last one stands under the cursor, behind its sign.
    for (int rank = 0; rank < ranks - 1; ++rank) all[std::size_t(rank)] = rank;
    EXPECT_EQ(ranks_named_in(screen, 4), all) << screen;
  }
}

/// The line of the screen that begins with "rank", as far as the map goes.
std::string time_axis(const std::string& screen) {
  std::istringstream lines(screen);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("rank ")) return line.substr(0, line.find('|'));
  return {};
}

TEST(TimeAxis, HasWholeNumbersWhereverTheCursorStands) {
  const SyntheticSession session;
  const std::string bare = time_axis(paint::to_text(screen::draw({}, session.model(), {80, 24}, kPlain)));
  const auto words_of = [](const std::string& line) {
    std::set<std::string> words;
    std::istringstream text(std::regex_replace(line, std::regex("[^0-9a-z.]+"), " "));
    for (std::string word; text >> word;) words.insert(word);
    return words;
  };
  const std::set<std::string> whole = words_of(bare);
  ASSERT_GE(whole.size(), 3u) << bare;
  for (auto at = std::chrono::milliseconds(0); at < std::chrono::seconds(5); at += std::chrono::milliseconds(20)) {
    State state;
    state.cursor_time = at;
    const std::string axis = time_axis(paint::to_text(screen::draw(state, session.model(), {80, 24}, kPlain)));
    ASSERT_NE(axis, bare) << "the cursor is on it";
    EXPECT_THAT(whole, ::testing::IsSupersetOf(words_of(axis))) << axis << '\n' << bare;
  }
}

std::string title_of(const Model& model) {
  const std::string screen = paint::to_text(screen::draw({}, model, {160, 48}, kPlain));
  return screen.substr(0, screen.find('\n'));
}

TEST(Title, TellsOfTheMomentOfItsFiguresWhileARecordingIsRead) {
  SyntheticSession session;
  session.session.replay.emplace();
  session.session.loading = "50 %";
  session.findings.window = {std::chrono::seconds(0), std::chrono::seconds(2)};
  const wire::Step step = layout::latest_step_at(session.timeline, session.findings.window.to);
  ASSERT_LT(step, session.timeline.latest_step());
  EXPECT_THAT(title_of(session.model()), HasSubstr(fmt::format("step {:<4}  2.0 s", step)));
}

TEST(Title, NamesNoPlaceInARecordingOfWhichNothingWasRead) {
  SyntheticSession session;
  session.session.replay = Replay{.position = std::chrono::seconds(3), .duration = std::chrono::seconds(64)};
  EXPECT_THAT(title_of(session.model()), HasSubstr("REPLAY x1.00 3.0 s of 64.0 s"));
  const timeline::Timeline nothing;
  const std::string title = title_of({nothing, session.findings, {}, session.session});
  EXPECT_THAT(title, AllOf(HasSubstr("REPLAY x1"), Not(HasSubstr(" s of "))));
}

TEST(Title, SaysHowManyRanksAFilterShows) {
  const SyntheticSession session;
  State state;
  state.filter = {{3, 5}, {7, 8}};
  const Rank ranks = session.timeline.ranks();
  EXPECT_THAT(paint::to_text(screen::draw(state, session.model(), {160, 48}, kPlain)),
              HasSubstr(fmt::format("3 of {} ranks", ranks)));
}

TEST(CursorLine, IsOfTheMomentThatIsShown) {
  const SyntheticSession session;
  EXPECT_THAT(paint::to_text(screen::draw({}, session.model(), {160, 48}, kPlain)),
              Not(HasSubstr("rank 0 . socket 0 . 1.50 s")));
  State paused;
  paused.paused = true;
  paused.paused_at = std::chrono::milliseconds(1500);
  EXPECT_THAT(paint::to_text(screen::draw(paused, session.model(), {160, 48}, kPlain)),
              HasSubstr("rank 0 . socket 0 . 1.50 s . step 44 . waits 100 %"));
}

TEST(Title, SaysOfNoRecordingThatItIsNotRecorded) {
  SyntheticSession session;
  session.session.recording = {};
  EXPECT_THAT(title_of(session.model()), HasSubstr("not recorded"));
  session.session.replay.emplace();
  EXPECT_THAT(title_of(session.model()), Not(HasSubstr("recorded")));
}

std::string step_line(const SyntheticSession& session) {
  const std::string screen = paint::to_text(screen::draw({}, session.model(), {160, 48}, kPlain));
  const std::size_t begin = screen.find("step ", screen.find("100 % wait"));
  return screen.substr(begin, screen.find("  ", begin) - begin);
}

TEST(StepLine, AddsUpWhateverAStepIsMadeOf) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> some(0, 400'000);
  SyntheticSession session({.length = std::chrono::seconds(1)});
  for (int i = 0; i < 300; ++i) {
    const auto part = [&] { return microseconds(random() % 2 == 0 ? 0 : some(random)); };
    const microseconds compute(1 + some(random)), wait = part(), delay = part(), other = part();
    session.findings.steps = {.steps = 100,
                              .mean = compute + wait + delay + other,
                              .compute_mean = compute,
                              .wait_mean = wait,
                              .delay_mean = delay};
    const std::string line = step_line(session);
    SCOPED_TRACE(line);
    std::smatch whole;
    ASSERT_TRUE(std::regex_search(line, whole, std::regex("step ([0-9.]+) ")));
    const std::regex figure("[=+] ([0-9.]+) ");
    double sum = 0;
    for (auto it = std::sregex_iterator(line.begin(), line.end(), figure); it != std::sregex_iterator(); ++it)
      sum += std::stod((*it)[1]);
    // Each of three digits, and what is below half a per cent is left out.
    EXPECT_NEAR(sum, std::stod(whole[1]), 0.02 * std::stod(whole[1])) << "seed " << seed;
  }
}

/// The line below the map, where its figures would stand.
std::string step_line_without_figures(const SyntheticSession& session) {
  const std::string screen = paint::to_text(screen::draw({}, session.model(), {160, 48}, kPlain));
  std::istringstream lines(screen.substr(screen.find("100 % wait")));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  return line.substr(1, line.find("  ", 1) - 1);
}

TEST(StepLine, SaysThatNoStepHasEndedOnlyWhereNoneHas) {
  SyntheticSession session({.length = std::chrono::seconds(1)});
  session.findings.steps = {};
  session.findings.window = {session.timeline.now() - microseconds(1), session.timeline.now()};
  EXPECT_EQ(step_line_without_figures(session), "no step has ended lately");
  session.findings.window = {session.timeline.begin(), session.timeline.begin() + microseconds(1)};
  EXPECT_EQ(step_line_without_figures(session), "no step has ended yet");
  session.findings.ground.partners.unlike_counts = analysis::partners::UnlikeCounts{};
  EXPECT_EQ(step_line_without_figures(session), "ranks count steps differently");
  for (const paint::Size size : {paint::Size{160, 48}, {100, 1}}) {
    const std::string title = paint::to_text(screen::draw({}, session.model(), size, kPlain));
    EXPECT_THAT(title.substr(0, title.find('\n')), Not(HasSubstr("step")));
    session.findings.ground.partners.unlike_counts.reset();
    const std::string alike = paint::to_text(screen::draw({}, session.model(), size, kPlain));
    EXPECT_THAT(alike.substr(0, alike.find('\n')), HasSubstr("step "));
    session.findings.ground.partners.unlike_counts = analysis::partners::UnlikeCounts{};
  }
}

TEST(StepLine, NamesWhatIsNeitherComputingNorWaiting) {
  SyntheticSession session({.length = std::chrono::seconds(1)});
  session.findings.steps = {.steps = 402,
                            .mean = microseconds(13'900),
                            .compute_mean = microseconds(4'060),
                            .wait_mean = microseconds(5'690),
                            .delay_mean = microseconds(1'000)};
  EXPECT_EQ(step_line(session), "step 13.9 ms = 4.06 compute + 5.69 wait (41 %) + 1.00 delay + 3.15 other");
}

}  // namespace
}  // namespace idlewave::view
