#include "probe/sampler/likwid.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <locale>
#include <sstream>
#include <string_view>
#include <utility>

namespace idlewave::sampler {

namespace {

constexpr Nanoseconds kPatience = std::chrono::seconds(5);
constexpr std::size_t kLineLimit = 4096;
constexpr std::string_view kNoGroup = "none";

/// In the child, after fork: only what is safe there.
[[noreturn]] void become_reader(const char* path, char* const* arguments, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  for (const int number : {SIGINT, SIGHUP, SIGPIPE, SIGTERM}) signal(number, SIG_DFL);
  // LIKWID counts only on processors that it may run on; the agent may be bound to one.
  unsigned char everywhere[1024];
  std::memset(everywhere, 0xff, sizeof everywhere);
  syscall(SYS_sched_setaffinity, 0, sizeof everywhere, everywhere);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDERR_FILENO);
  dup2(output, STDOUT_FILENO);
  execv(path, arguments);
  _exit(127);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "its reader was ended by signal " + std::to_string(WTERMSIG(status));
  return "its reader ended without an answer (exit code " + std::to_string(WEXITSTATUS(status)) + ")";
}

}  // namespace

Likwid::~Likwid() { end_reader(); }

void Likwid::meet(const std::vector<MachineDomain>& machine, Nanoseconds now) {
  if (machine.empty()) return;
  rest();
  heard_at_ = now;
  if (group_ == kNoGroup) {
    fail("the counters are left to others (--likwid-group none)");
  } else if (access(reader_path_.c_str(), X_OK) != 0) {
    fail("this idlewave was built without LIKWID; install likwid's headers and library, and build again");
  } else {
    start(machine);
  }
}

/// What it has counted is of no use when it begins anew.
void Likwid::rest() {
  end_reader();
  unread_.clear();
  counts_.clear();
  metrics_.clear();
  no_memory_.clear();
  failure_.clear();
}

void Likwid::start(const std::vector<MachineDomain>& machine) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return fail(std::string("no pipe to its reader: ") + std::strerror(errno));
  std::vector<std::string> words{reader_path_};
  if (!group_.empty()) words.insert(words.end(), {"--group", group_});
  for (const MachineDomain& domain : machine) {
    std::string& word = words.emplace_back(std::to_string(domain.id));
    for (const int processor : domain.processors)
      word += (processor == domain.processors.front() ? ":" : ",") + std::to_string(processor);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  reader_ = fork();
  if (reader_ == 0) become_reader(reader_path_.c_str(), arguments.data(), ends[1], parent);
  // here as well as in the child, so that it has happened whoever runs first
  if (reader_ > 0) setpgid(reader_, reader_);
  close(ends[1]);
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  if (reader_ < 0) fail(std::string("its reader can't be started: ") + std::strerror(errno));
}

Standing Likwid::standing(const Domain& domain, Nanoseconds now) {
  if (domain.is_virtual) return {};
  poll(now);
  if (!failure_.empty()) return {false, "LIKWID: " + failure_};
  if (!no_memory_.empty()) return {false, "LIKWID: " + no_memory_};
  return {counts_.contains(domain.id), ""};
}

void Likwid::poll(Nanoseconds now) {
  if (pipe_ < 0) return;
  read_lines(now);
  if (pipe_ >= 0 && now - heard_at_ > kPatience) fail("its reader gave no answer for 5 s");
}

void Likwid::read_lines(Nanoseconds now) {
  std::array<char, 4096> piece;
  ssize_t got = 0;
  while (pipe_ >= 0 && (got = read(pipe_, piece.data(), piece.size())) > 0) {
    unread_.append(piece.data(), std::size_t(got));
    std::size_t end = 0;
    while (pipe_ >= 0 && (end = unread_.find('\n')) != std::string::npos) {
      heard_at_ = now;
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      obey(line);
    }
    if (unread_.size() > kLineLimit) fail("its reader talks nonsense");
  }
  if (pipe_ >= 0 && got == 0) fail("");
}

void Likwid::obey(std::string_view line) {
  std::istringstream words{std::string(line)};
  words.imbue(std::locale::classic());
  std::string kind;
  words >> kind >> std::ws;
  bool is_understood = true;
  if (kind == "error") {
    std::string reason;
    std::getline(words, reason);
    return fail(std::move(reason));
  } else if (kind == "no-memory") {
    std::getline(words, no_memory_);
  } else if (kind == "sample") {
    is_understood = take_sample(words);
  } else if (kind == "meter") {
    is_understood = take_meter(words);
  } else if (kind == "reading") {
    is_understood = take_reading(words);
  }
  if (!is_understood) fail("its reader talks nonsense");
}

bool Likwid::take_sample(std::istream& words) {
  DomainId domain = wire::kNoDomain;
  double seconds = 0;
  double bytes = 0;
  if (!(words >> domain >> seconds >> bytes) || seconds <= 0 || bytes < 0) return false;
  Count& count = counts_[domain];
  count.rate = bytes / seconds;
  count.fresh = true;
  return true;
}

/// Its unit is what stands in brackets at the end of its name.
bool Likwid::take_meter(std::istream& words) {
  DomainId domain = wire::kNoDomain;
  int place = 0;
  std::string name, unit;
  if (!(words >> domain >> place >> std::ws) || !std::getline(words, name) || name.empty()) return false;
  const std::size_t bracket = name.rfind(" [");
  if (bracket != std::string::npos && name.back() == ']') {
    unit = name.substr(bracket + 2, name.size() - bracket - 3);
    name.resize(bracket);
  }
  metrics_[{domain, place}].meter = {domain, name, unit, "LIKWID " + group_};
  return true;
}

bool Likwid::take_reading(std::istream& words) {
  DomainId domain = wire::kNoDomain;
  int place = 0;
  std::string value;
  if (!(words >> domain >> place >> value)) return false;
  const auto known = metrics_.find({domain, place});
  if (known == metrics_.end()) return false;
  known->second.value.reset();
  known->second.fresh = true;
  if (value == "none") return true;
  std::istringstream figure(value);
  figure.imbue(std::locale::classic());
  double read = 0;
  if (!(figure >> read) || !std::isfinite(read) || read < 0) return false;
  known->second.value = read;
  return true;
}

void Likwid::read_meters(Nanoseconds now, std::vector<MeterReading>& readings) {
  for (auto& [place, metric] : metrics_) {
    if (!std::exchange(metric.fresh, false)) continue;
    const auto before = std::exchange(metric.told_at, now);
    std::optional<std::uint64_t> amount;
    if (before && metric.value) {
      // As in sample(): the value is what was measured.
      const double seconds = std::chrono::duration<double>(now - *before).count();
      const double steps = *metric.value * seconds / wire::kMeterStep;
      if (steps <= double(wire::kMaxEventValue)) amount = std::uint64_t(std::llround(steps));
    }
    readings.push_back({metric.meter, amount});
  }
}

/// Ends the reader; an empty reason stands for the way in which it ended by itself.
void Likwid::fail(std::string reason) {
  if (reason.empty()) {
    int status = 0;
    // Its output is closed, so it has ended or is about to.
    if (waitpid(reader_, &status, 0) == reader_) reader_ = -1;
    reason = how_it_ended(status);
  }
  failure_ = std::move(reason);
  end_reader();
}

void Likwid::end_reader() {
  if (pipe_ >= 0) close(std::exchange(pipe_, -1));
  if (reader_ <= 0) return;
  kill(-reader_, SIGKILL);  // with whatever the library has forked
  while (waitpid(reader_, nullptr, 0) < 0 && errno == EINTR) continue;
  reader_ = -1;
}

void Likwid::begin(DomainId domain, Nanoseconds now) {
  Count& count = counts_[domain];
  count.fresh = false;
  count.told_at = now;
}

std::optional<std::uint64_t> Likwid::sample(DomainId domain, Nanoseconds now) {
  Count& count = counts_[domain];
  if (!count.fresh || now <= count.told_at) return std::nullopt;
  // The reader's interval and the time between two figures differ by how long its line lay in the pipe. The rate is
  // what was measured.
  const double seconds = std::chrono::duration<double>(now - count.told_at).count();
  count.fresh = false;
  count.told_at = now;
  return std::uint64_t(std::llround(count.rate * seconds));
}

}  // namespace idlewave::sampler
