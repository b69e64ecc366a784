// What ncurses writes for us, on the terminal that most of our users sit in, at sizes that other terminal emulators get
// wrong.

#include <gtest/gtest.h>

#include <clocale>
#include <fstream>

#include "monitor/term/ncurses_screen.h"
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

/// `name`: the terminal that is written for, which tmux understands as well as its own.
void expect_random_pictures_arrive(const char* name, view::Size size) {
  if (!tmux_is_installed()) GTEST_SKIP() << "tmux is not installed (apt-get install tmux)";
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  TmuxSession session(size.columns, size.rows);
  std::ofstream bytes(session.folder() + "/bytes");
  session.run("clear; stty raw -echo; tail -f " + session.folder() + "/bytes");
  term::NcursesScreen screen(*term::read_terminfo(name), {.unicode = true}, size);
  view::Canvas picture = term::random_picture(random, size);
  for (int frame = 0; frame < 20; ++frame) {
    bytes << screen.draw(picture) << std::flush;
    ASSERT_TRUE(eventually([&] { return without_trailing_blanks(session.screen()) == to_text(picture); }))
        << "frame " << frame;
    picture = term::changed(random, picture);
  }
}

TEST(Picture, ArrivesInTmux) { expect_random_pictures_arrive("tmux-256color", {160, 50}); }
TEST(Picture, ArrivesInTmuxAsForXterm) { expect_random_pictures_arrive("xterm-256color", {200, 60}); }
TEST(Picture, ArrivesOnALargeWindow) { expect_random_pictures_arrive("tmux-256color", {400, 120}); }

}  // namespace
}  // namespace idlewave::tty
