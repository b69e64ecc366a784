// Whole screens against text that people have read: tests/golden/view_*.txt. To renew them after a change that is
// meant, run
//   IDLEWAVE_UPDATE_GOLDEN=1 build/release/bin/test_view --gtest_filter='*Golden*'
// and read the difference.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "monitor/view/keys/forms.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/screen/screen.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using paint::Ink;

State usual_state() {
  State state;
  state.cursor_rank = 5;
  return state;
}

char letter_of(Ink ink) {
  if (ink >= Ink::kWait0 && ink <= Ink::kWait7)
    return static_cast<char>('0' + static_cast<int>(ink) - static_cast<int>(Ink::kWait0));
  switch (ink) {
    case Ink::kCompute: return 'c';
    case Ink::kDelay: return 'D';
    case Ink::kOther: return 'o';
    case Ink::kNoData: return '?';
    default: return '.';
  }
}

/// What the upper and the lower half of each cell mean, a line of letters for each.
std::string meanings(const paint::Canvas& canvas) {
  std::string out;
  for (int y = 0; y < canvas.size().rows; ++y) {
    std::string top, bottom;
    for (int x = 0; x < canvas.size().columns; ++x) {
      const paint::Cell& cell = canvas.at(x, y);
      const bool upper = cell.glyph == U'▀', lower = cell.glyph == U'▄', dotted = cell.fg == Ink::kNoData;
      top += letter_of(upper || dotted ? cell.fg : cell.bg);
      bottom += letter_of(lower || dotted ? cell.fg : cell.bg);
    }
    out += top + '\n' + bottom + '\n';
  }
  return out;
}

std::string file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(IDLEWAVE_GOLDEN_DIR) + "/view_" + name + ".txt";
  if (std::getenv("IDLEWAVE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
  }
  EXPECT_EQ(actual, file(path)) << "if the change is meant: IDLEWAVE_UPDATE_GOLDEN=1 (see golden_test.cpp)";
}

std::string screen(paint::Size size, const Look& look, const State& state = usual_state()) {
  return paint::to_text(screen::draw(state, usual_session().model(), size, look));
}

TEST(GoldenScreen, Of160x48) { expect_golden("160x48", screen({160, 48}, kMonochrome)); }
TEST(GoldenScreen, Of80x24) { expect_golden("80x24", screen({80, 24}, kMonochrome)); }
TEST(GoldenScreen, Of60x20) { expect_golden("60x20", screen({60, 20}, kMonochrome)); }
TEST(GoldenScreen, Of40x12) { expect_golden("40x12", screen({40, 12}, kMonochrome)); }
TEST(GoldenScreen, Of20x5) { expect_golden("20x5", screen({20, 5}, kMonochrome)); }
TEST(GoldenScreen, InAscii) { expect_golden("80x24_ascii", screen({80, 24}, kAscii)); }

TEST(GoldenScreen, InColour) {
  expect_golden("80x24_colour", meanings(screen::draw(usual_state(), usual_session().model(), {80, 24}, kColour)));
}

TEST(GoldenScreen, OfTheHelp) {
  State state = usual_state();
  state.help = true;
  expect_golden("80x24_help", screen({80, 24}, kMonochrome, state));
}

TEST(GoldenScreen, WithTheInjectionForm) {
  State state = usual_state();
  state.form = keys::inject_form(5, usual_session().model());
  expect_golden("80x24_inject", screen({80, 24}, kMonochrome, state));
}

TEST(GoldenScreen, WithTheFunctions) {
  State state = usual_state();
  state.focus = U'6';
  expect_golden("160x48_functions", screen({160, 48}, kMonochrome, state));
  expect_golden("80x24_functions", screen({80, 24}, kMonochrome, state));
}

TEST(GoldenScreen, WithTheMessages) {
  State state = usual_state();
  state.focus = U'7';
  expect_golden("160x48_messages", screen({160, 48}, kMonochrome, state));
  expect_golden("80x24_messages", screen({80, 24}, kMonochrome, state));
}

TEST(GoldenScreen, WithACursorInTheWave) {
  State state = usual_state();
  state.cursor_rank = 15;
  state.cursor_time = std::chrono::milliseconds(1500);
  expect_golden("160x48_cursor", screen({160, 48}, kMonochrome, state));
}

}  // namespace
}  // namespace idlewave::view
