#include "tmux_session.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace idlewave::tty {
namespace {

using namespace std::chrono_literals;

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string output(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string new_folder() {
  std::string name = std::filesystem::temp_directory_path() / "idlewave-tty-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return name;
}

}  // namespace

bool tmux_is_installed() { return ::access(IDLEWAVE_TMUX, X_OK) == 0; }

bool eventually(const std::function<bool()>& condition, std::chrono::seconds guard) {
  const auto deadline = std::chrono::steady_clock::now() + guard;
  // A look at a screen takes two programs: who has waited for long looks less often.
  for (std::chrono::nanoseconds pause = 20ms; !condition();
       pause = std::min<std::chrono::nanoseconds>(pause * 5 / 4, 150ms)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

bool process_lives(pid_t pid) {
  const std::string stat = content("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t state = stat.rfind(") ");
  return state != stat.npos && stat[state + 2] != 'Z' && stat[state + 2] != 'X';
}

TmuxSession::TmuxSession(int columns, int rows, const std::vector<std::string>& environment)
    : folder_(new_folder()), socket_(folder_ + "/tmux") {
  std::string unset = "env -u NO_COLOR -u LC_ALL";
  std::string set = " LANG=C.UTF-8 PS1='ready> ' HISTFILE=";
  set += " ASAN_OPTIONS=handle_segv=0";  // a sanitizer would turn the signal into an exit code of its own
  for (const std::string& change : environment)
    if (change.rfind("-u ", 0) == 0)
      unset += " " + change;
    else
      set += " " + shell_word(change);
  const std::string shell = unset + set + " bash --norc --noprofile -i";
  std::ofstream(folder_ + "/tmux.conf")
      << "set -g status off\nset -g default-terminal tmux-256color\nset -sg escape-time 0\n";
  ::setenv("LC_ALL", "C.UTF-8", 1);  // for the tmux client and server, whatever the test is run in
  tmux("-f " + shell_word(folder_ + "/tmux.conf") + " new-session -d -x " + std::to_string(columns) + " -y " +
       std::to_string(rows) + " " + shell_word(shell));
  end_with_this_process();
  if (!shows("ready>")) throw std::runtime_error("no shell in tmux");
}

/// A test that is killed runs no destructor; nor does a constructor that throws. A zombie has no /proc/PID/exe.
void TmuxSession::end_with_this_process() const {
  const std::string folder = shell_word(folder_);
  const std::string server = "env -u TMUX " IDLEWAVE_TMUX " -S " + shell_word(socket_) + " kill-server";
  const std::string alive = "[ -d " + folder + " ] && [ -e /proc/" + std::to_string(::getpid()) + "/exe ]";
  tmux("run-shell -b " +
       shell_word("trap '' HUP TERM; while " + alive + "; do sleep 1; done; " + server + "; rm -rf " + folder));
}

TmuxSession::~TmuxSession() {
  close();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string TmuxSession::tmux(const std::string& arguments) const {
  return output(std::string("unset TMUX; exec " IDLEWAVE_TMUX) + " -S " + shell_word(socket_) + " " + arguments +
                " 2>&1");
}

void TmuxSession::type(const std::string& text) const { tmux("send-keys -l -- " + shell_word(text)); }
void TmuxSession::press(const std::string& key) const { tmux("send-keys -- " + shell_word(key)); }

void TmuxSession::run(const std::string& command) const {
  type(command);
  press("Enter");
}

void TmuxSession::resize(int columns, int rows) const {
  tmux("resize-window -x " + std::to_string(columns) + " -y " + std::to_string(rows));
}

void TmuxSession::close() const { tmux("kill-server"); }

std::string TmuxSession::screen() const { return tmux("capture-pane -p"); }
std::string TmuxSession::coloured_screen() const { return tmux("capture-pane -p -e"); }

bool TmuxSession::shows(const std::string& text) const {
  return eventually([&] { return screen().find(text) != std::string::npos; });
}

std::string TmuxSession::format(const std::string& variable) const {
  return tmux("display-message -p '#{" + variable + "}'");
}

std::string TmuxSession::output_of(const std::string& command) {
  const std::string file = folder_ + "/output-" + std::to_string(++commands_);
  run("{ " + command + "; } >" + file + ".part 2>&1; mv " + file + ".part " + file);
  if (!eventually([&] { return std::filesystem::exists(file); })) return "the shell did not answer:\n" + screen();
  return content(file);
}

std::string TmuxSession::state() {
  std::string state = output_of("stty -g");
  for (const char* variable :
       {"alternate_on", "cursor_flag", "mouse_any_flag", "mouse_sgr_flag", "keypad_cursor_flag", "insert_flag"})
    state += std::string(variable) + " " + format(variable);
  return state;
}

}  // namespace idlewave::tty
