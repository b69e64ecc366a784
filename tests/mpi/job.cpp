#include "tests/mpi/job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kHang = 100s;
constexpr auto kPoll = 10ms;

/// State and parent of a process, from /proc; state 0 if there is none.
struct ProcessStat {
  char state = 0;
  pid_t parent = 0;
};

ProcessStat stat_of(const std::string& process) {
  std::ifstream file{"/proc/" + process + "/stat"};
  std::string line;
  if (!std::getline(file, line)) return {};
  ProcessStat stat;
  std::istringstream rest{line.substr(line.rfind(')') + 1)};
  rest >> stat.state >> stat.parent;
  return stat;
}

std::string name_of(const std::string& process) {
  std::ifstream file{"/proc/" + process + "/comm"};
  std::string name;
  std::getline(file, name);
  return name;
}

std::vector<pid_t> ring_processes_of(pid_t launcher) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string process = entry.path().filename();
    if (process.find_first_not_of("0123456789") != std::string::npos) continue;
    if (stat_of(process).parent == launcher && name_of(process) == "iw-ring") found.push_back(std::stoi(process));
  }
  return found;
}

std::string content(int file) {
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::vector<std::string> command(int ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{IDLEWAVE_MPIRUN, "--oversubscribe",     "--mca", "btl", "vader,self",
                                 "--mca",         "mpi_yield_when_idle", "1",     "-n",  std::to_string(ranks),
                                 IDLEWAVE_RING};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

[[noreturn]] void become(const std::vector<std::string>& words, int out, int err) {
  setpgid(0, 0);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  unsetenv("IDLEWAVE_SESSION");
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

Job::Job(int ranks, const std::vector<std::string>& arguments)
    : out_(memfd_create("out", 0)), err_(memfd_create("err", 0)) {
  const std::vector<std::string> words = command(ranks, arguments);
  launcher_ = fork();
  if (launcher_ == 0) become(words, out_, err_);
}

Job::~Job() {
  kill_all();
  close(out_);
  close(err_);
}

JobResult Job::wait() {
  const auto deadline = Clock::now() + kHang;
  int status = 0;
  while (waitpid(launcher_, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      kill_all();
      break;
    }
    std::this_thread::sleep_for(kPoll);
  }
  launcher_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out_), content(err_)};
}

std::vector<pid_t> Job::ranks(std::size_t expected) const {
  const auto deadline = Clock::now() + kHang;
  std::vector<pid_t> found;
  while ((found = ring_processes_of(launcher_)).size() < expected && Clock::now() < deadline)
    std::this_thread::sleep_for(kPoll);
  return found;
}

/// The ranks too: mpirun puts each into a process group of its own.
void Job::kill_all() const {
  if (launcher_ <= 0) return;
  for (const pid_t rank : ring_processes_of(launcher_)) kill(rank, SIGKILL);
  kill(launcher_, SIGKILL);
  waitpid(launcher_, nullptr, 0);
}

JobResult run_ring(int ranks, const std::vector<std::string>& arguments) { return Job{ranks, arguments}.wait(); }

bool is_running(pid_t process) {
  const char state = stat_of(std::to_string(process)).state;
  return state != 0 && state != 'Z' && state != 'X';
}

bool all_gone(const std::vector<pid_t>& processes) {
  const auto deadline = Clock::now() + kHang;
  while (std::ranges::any_of(processes, is_running)) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

}  // namespace idlewave::tests
