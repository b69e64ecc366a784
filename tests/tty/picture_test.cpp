// What ncurses writes for us, on the terminal that most of our users sit in, at sizes that other terminal emulators get
// wrong.

#include <gtest/gtest.h>

#include <clocale>
#include <fstream>

#include "monitor/term/ncurses_screen.h"
#include "tests/any_seed.h"
#include "tests/term/pictures.h"
#include "tmux_session.h"

namespace idlewave::tty {
namespace {

using term::Random;

std::string without_trailing_blanks(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out.erase(out.find_last_not_of(' ') + 1);
    out += c;
  }
  return out;
}

/// A window that shows what a screen writes for the terminal called `name`, which tmux understands as well as its own.
class Window {
 public:
  Window(const char* name, const view::Look& look, view::paint::Size size)
      : session_(size.columns, size.rows),
        bytes_(session_.folder() + "/bytes"),
        screen_(*term::read_terminfo(name), look, size) {
    session_.run("clear; stty raw -echo; tail -f " + session_.folder() + "/bytes");
  }

  /// Whether the picture is there in the end.
  bool shows(const view::paint::Canvas& picture) {
    bytes_ << screen_.draw(picture) << std::flush;
    return eventually([&] { return without_trailing_blanks(session_.screen()) == to_text(picture); });
  }

 private:
  TmuxSession session_;
  std::ofstream bytes_;
  term::NcursesScreen screen_;
};

void expect_random_pictures_arrive(const char* name, view::paint::Size size) {
  if (!tmux_is_installed()) GTEST_SKIP() << "tmux is not installed (apt-get install tmux)";
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Window window(name, {.unicode = true}, size);
  view::paint::Canvas picture = term::random_picture(random, size);
  for (int frame = 0; frame < 20; ++frame) {
    ASSERT_TRUE(window.shows(picture)) << "frame " << frame;
    picture = term::changed(random, picture);
  }
}

view::paint::Canvas numbered_rows(view::paint::Size size, int first) {
  view::paint::Canvas canvas(size);
  for (int y = 0; y < size.rows; ++y) canvas.text(0, y, std::to_string(first + y), view::paint::Ink::kText);
  return canvas;
}

TEST(Picture, HasNoStrayDigitsOnAVt100WithMoreThan24Rows) {
  if (!tmux_is_installed()) GTEST_SKIP() << "tmux is not installed (apt-get install tmux)";
  Window window("vt100", {.colours = view::ColourDepth::kNone, .unicode = false}, {80, 40});
  for (int first = 0; first < 5; ++first) ASSERT_TRUE(window.shows(numbered_rows({80, 40}, first))) << first;
}

TEST(Picture, ArrivesInTmux) { expect_random_pictures_arrive("tmux-256color", {160, 50}); }
TEST(Picture, ArrivesInTmuxAsForXterm) { expect_random_pictures_arrive("xterm-256color", {200, 60}); }
TEST(Picture, ArrivesOnALargeWindow) { expect_random_pictures_arrive("tmux-256color", {400, 120}); }

}  // namespace
}  // namespace idlewave::tty
