// The smallest program that uses the terminal and the guard as the monitor does. Draws a test picture, shows the last
// key, and writes what happens to a file. Keys: q quits, S breaks the memory (SIGSEGV), anything else is shown. Usage:
// terminal_example LOG [helper]

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include "monitor/process/guard.h"
#include "monitor/process/launch.h"
#include "monitor/term/terminal.h"
#include "monitor/term/terminfo.h"
#include "probe/signals/stop_signals.h"

namespace {

using namespace idlewave;
using view::Key;
using view::KeyCode;
using view::paint::Canvas;
using view::paint::Ink;

std::string described(const Key& key) {
  const std::string modifier = key.control ? "control-" : "";
  if (key.code == KeyCode::kCharacter)
    return modifier + "character " + std::to_string(static_cast<unsigned>(key.character));
  return modifier + "code " + std::to_string(static_cast<int>(key.code)) + " at " + std::to_string(key.x) + "," +
         std::to_string(key.y);
}

Canvas picture(const term::Terminal& terminal, const std::string& last_key) {
  const view::paint::Size size = terminal.size();
  Canvas canvas(size);
  canvas.text(0, 0, "size " + std::to_string(size.columns) + "x" + std::to_string(size.rows), Ink::kTitle);
  canvas.text(0, 1, "key " + last_key, Ink::kText);
  for (int i = 0; i < view::paint::kInks; ++i)
    canvas.put(i, 2, {.glyph = U'▀', .fg = static_cast<Ink>(i), .bg = Ink::kCompute});
  canvas.text(0, 3, "delay", Ink::kDelay);
  canvas.text(0, 4, terminal.note(), Ink::kWarning);
  canvas.text(0, size.rows - 1, "bottom", Ink::kStrong);
  canvas.text(size.columns - 1, size.rows - 1, "#", Ink::kText);
  return canvas;
}

class Example {
 public:
  Example(term::Terminal& terminal, std::ofstream& log) : terminal_(terminal), log_(log) {}

  int run() {
    log_ << "colours " << static_cast<int>(terminal_.look().colours) << " unicode " << terminal_.look().unicode
         << std::endl;
    while (!quit_ && !terminal_.hung_up() && !stop_.received()) {
      terminal_.show(picture(terminal_, last_key_));
      pollfd waiting[] = {{terminal_.input_fd(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}};
      ::poll(waiting, 2, 100);
      for (const Key& key : terminal_.keys()) take(key);
    }
    log_ << "ended" << std::endl;
    return stop_.received() ? signals::exit_code_of(*stop_.received()) : 0;
  }

 private:
  void take(const Key& key) {
    last_key_ = described(key);
    log_ << "key " << last_key_ << std::endl;
    if (key == view::key_of(U'q')) quit_ = true;
    if (key == view::key_of(U'S')) ::raise(SIGSEGV);
  }

  term::Terminal& terminal_;
  std::ofstream& log_;
  signals::StopSignals stop_;
  std::string last_key_ = "none";
  bool quit_ = false;
};

int body(const char* log_name, bool with_helper) {
  std::ofstream log(log_name, std::ios::app);
  log << "monitor " << ::getpid() << "\nguard " << ::getppid() << std::endl;
  std::optional<process::Launched> helper;
  if (with_helper) {
    auto launched = process::launch({"sh", "-c", "sleep 1000 & echo helper $$; echo helper $!; wait"},
                                    {.output_fd = ::open(log_name, O_WRONLY | O_APPEND)});
    if (launched) helper = std::move(*launched);
  }
  auto terminal = term::open_terminal();
  if (!terminal) {
    std::cerr << "terminal_example: " << terminal.error().message << std::endl;
    return 1;
  }
  return Example(**terminal, log).run();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: terminal_example LOG [helper]\n";
    return 2;
  }
  const process::GuardOptions options{.program = "terminal_example", .terminal_reset = term::leave_sequence()};
  return process::run_guarded(options, [&] { return body(argv[1], argc > 2); });
}
