// What a page has measured, as a table: as wide as there is room, or not at all.

#include "monitor/view/panels/lesson_figures.h"

#include <gmock/gmock.h>

#include <random>

#include "monitor/view/paint/text.h"
#include "tests/any_seed.h"

namespace idlewave::view {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using wire::LessonFigure;

std::vector<std::string> texts_of(const Lesson& lesson, int columns) {
  std::vector<std::string> texts;
  for (const panels::LessonLine& line : panels::figure_lines(lesson, columns)) {
    texts.push_back(line.text);
    while (texts.back().ends_with(' ')) texts.back().pop_back();
  }
  return texts;
}

Lesson lesson_of(std::vector<LessonFigure> figures) { return {.title = "a lesson", .figures = std::move(figures)}; }

const LessonFigure kFell{"Active ranks", "10 ranks", "5.0 ± 0.1 ranks", "5 ranks", 1, 0.5, 0.5};
const LessonFigure kState{"State", "lockstep", "computational wave", "computational wave"};

TEST(LessonFigures, StandBeforeAndAfterSideBySideWithBarsOfTheirParts) {
  EXPECT_THAT(
      texts_of(lesson_of({kFell, kState}), 120),
      ElementsAre(
          "              before                 after                            theory",
          "Active ranks  ▆▆▆▆▆▆▆▆▆▆▆▆ 10 ranks  ▆▆▆▆▆▆       5.0 ± 0.1 ranks     ▆▆▆▆▆▆       5 ranks",
          "State                      lockstep               computational wave               computational wave"));
}

TEST(LessonFigures, HaveNoColumnOfWhatNoneWasBefore) {
  EXPECT_THAT(texts_of(lesson_of({{"Reach", "", "19 ranks", "at least 18 ranks"}}), 80),
              ElementsAre("       measured  theory", "Reach  19 ranks  at least 18 ranks"));
}

TEST(LessonFigures, KeepABarThatIsSeenOfWhatIsAboveNothing) {
  const auto texts = texts_of(lesson_of({{"Cost", "1 us", "1 s", "0 s", 1e-6, 1, 0}}), 80);
  EXPECT_THAT(texts.back(), HasSubstr("▆            1 us"));
  EXPECT_THAT(texts.back(), HasSubstr(" 1 s  0 s")) << "a column without bars";
}

TEST(LessonFigures, GiveUpBarsBeforeTheyGiveUpThemselves) {
  const Lesson lesson = lesson_of({kFell});
  EXPECT_THAT(texts_of(lesson, 70).back(), HasSubstr("  ▆▆▆▆▆▆ 10"));
  EXPECT_THAT(texts_of(lesson, 50).back(), Not(HasSubstr("▆")));
  EXPECT_THAT(texts_of(lesson_of({kFell, kFell}), 40),
              ElementsAre("before    after            theory", "Active ranks", "10 ranks  5.0 ± 0.1 ranks  5 ranks",
                          "Active ranks", "10 ranks  5.0 ± 0.1 ranks  5 ranks"));
  EXPECT_THAT(texts_of(lesson, 30), IsEmpty()) << "a table of which a part is cut off is none";
  EXPECT_THAT(texts_of(lesson_of({}), 100), IsEmpty());
}

TEST(LessonFigures, AreNeverWiderThanTheirRoomWhateverSomebodySends) {
  std::mt19937_64 random(any_seed());
  const auto text = [&] {
    std::string some;
    for (auto length = random() % 20; length > 0; --length) some += char(random() % 256);
    return some;
  };
  const auto part = [&] { return double(random() % 5) / 4; };
  for (int i = 0; i < 300; ++i) {
    std::vector<LessonFigure> figures;
    for (auto rows = random() % 5; rows > 0; --rows)
      figures.push_back({text(), text(), text(), text(), part(), part(), part()});
    const int columns = int(random() % 120);
    for (const panels::LessonLine& line : panels::figure_lines(lesson_of(figures), columns))
      EXPECT_LE(paint::columns_of(line.text), columns);
  }
}

}  // namespace
}  // namespace idlewave::view
