#include "probe/wire/session_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

namespace idlewave::wire {
namespace {

constexpr int kFilePathLimit = kSessionPathLimit + 32;
constexpr time_t kSettlingSeconds = 60;
constexpr int kPlaceLimit = 128;
constexpr int kMakingTries = 100;
constexpr int kHoldPatienceMs = 1000;
constexpr std::size_t kTroubleLimit = 64 * 1024;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

template <std::size_t size, class... Values>
bool print_to(char (&out)[size], const char* format, Values... values) {
  const int length = snprintf(out, size, format, values...);
  return length >= 0 && static_cast<std::size_t>(length) < size;
}

bool root_path(char (&out)[kSessionPathLimit]) {
  const char* chosen = getenv("IDLEWAVE_DIR");
  if (chosen != nullptr && chosen[0] != '\0') return chosen[0] == '/' && print_to(out, "%s", chosen);
  return print_to(out, "/tmp/idlewave-%u", static_cast<unsigned>(geteuid()));
}

/// Reads a small file whole, with a NUL after it. False if it can't be read or does not fit.
bool read_small_file(const char* path, char* out, std::size_t size) {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return false;
  std::size_t length = 0;
  while (length < size) {
    const ssize_t got = read(file.get(), out + length, size - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length == size) return false;
  out[length] = '\0';
  return true;
}

template <std::size_t size>
bool read_small_file(const char* path, char (&out)[size]) {
  return read_small_file(path, out, size);
}

/// Where process numbers mean what they mean here: machine, boot, and table of processes.
struct Place {
  char machine[kPlaceLimit] = {};
  char run[kPlaceLimit] = {};
};

/// The link holds both, with a blank between them.
bool read_place(const char* folder, Place& out) {
  char path[kFilePathLimit], text[2 * kPlaceLimit];
  if (!print_to(path, "%s/place", folder)) return false;
  const ssize_t length = readlink(path, text, sizeof text - 1);
  if (length <= 0) return false;
  text[length] = '\0';
  char* blank = strrchr(text, ' ');
  if (blank == nullptr) return false;
  *blank = '\0';
  return print_to(out.machine, "%s", text) && print_to(out.run, "%s", blank + 1);
}

Place this_place() {
  Place place;
  utsname names;
  char boot[64] = {}, processes[64] = {};
  read_small_file("/proc/sys/kernel/random/boot_id", boot);
  boot[strcspn(boot, "\n")] = '\0';
  if (readlink("/proc/self/ns/pid", processes, sizeof processes - 1) <= 0) processes[0] = '\0';
  print_to(place.machine, "%s", uname(&names) == 0 ? names.nodename : "localhost");
  print_to(place.run, "%s/%s", boot, processes);
  return place;
}

/// What a machine left before it was started anew is its own to sweep.
bool is_here(const Place& place, const Place& here) {
  if (strcmp(place.run, here.run) == 0) return true;
  const std::size_t boot = strcspn(here.run, "/");
  return strcmp(place.machine, here.machine) == 0 && strncmp(place.run, here.run, boot + 1) != 0;
}

/// FNV-1a.
std::uint32_t digest(const Place& place) {
  std::uint32_t sum = 2166136261u;
  for (const char* c = place.run; *c != '\0'; ++c) sum = (sum ^ static_cast<unsigned char>(*c)) * 16777619u;
  return sum;
}

bool belongs_elsewhere(const char* folder) {
  Place place;
  return read_place(folder, place) && !is_here(place, this_place());
}

/// The first one to do so has the folder.
void settle_place(const char* folder) {
  char path[kFilePathLimit], text[2 * kPlaceLimit];
  const Place here = this_place();
  if (print_to(path, "%s/place", folder) && print_to(text, "%s %s", here.machine, here.run)) (void)!symlink(text, path);
}

bool file_path(const char* session, const char* name, char (&out)[kFilePathLimit]) {
  char folder[kSessionPathLimit];
  return session_path(session, folder) && print_to(out, "%s/%s", folder, name);
}

bool is_private_folder(const char* path) {
  struct stat status;
  errno = 0;
  return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 022) == 0;
}

bool make_private_folder(const char* path) {
  for (int i = 0; i < kMakingTries; ++i) {
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
    if (is_private_folder(path)) return true;
    if (errno != ENOENT) return false;  // Else it was swept away in between.
  }
  return false;
}

bool write_all(int fd, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool parse_number(const char* text, unsigned long long limit, unsigned long long& out) {
  if (*text < '0' || *text > '9') return false;
  char* end = nullptr;
  errno = 0;
  out = strtoull(text, &end, 10);
  return *end == '\0' && errno == 0 && out <= limit;
}

/// One "key value" line. False if a known key has a value that can't be; unknown keys are for later versions.
bool parse_record_line(const char* key, const char* value, AgentRecord& record) {
  unsigned long long number = 0;
  if (strcmp(key, "endpoint") == 0) return print_to(record.endpoint, "%s", value);
  if (strcmp(key, "pid") == 0) {
    if (!parse_number(value, INT32_MAX, number)) return false;
    record.pid = static_cast<pid_t>(number);
  } else if (strcmp(key, "start") == 0) {
    if (!parse_number(value, UINT64_MAX, number)) return false;
    record.start = number;
  } else if (strcmp(key, "memory") == 0) {
    if (!parse_number(value, INT32_MAX, number)) return false;
    record.memory_fd = static_cast<int>(number);
  }
  return true;
}

bool parse_record(char* text, AgentRecord& record) {
  for (char* line = text; *line != '\0';) {
    char* end = strchr(line, '\n');
    if (end == nullptr) return false;
    *end = '\0';
    char* space = strchr(line, ' ');
    if (space == nullptr) return false;
    *space = '\0';
    if (!parse_record_line(line, space + 1, record)) return false;
    line = end + 1;
  }
  return record.pid > 0 && record.start > 0 && record.memory_fd >= 0;
}

void pause_ms(long ms) {
  const timespec span{ms / 1000, ms % 1000 * 1'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr);
}

long long monotonic_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1'000'000;
}

/// The lock of a folder that was removed while we waited for it protects nothing.
bool is_still_at(int fd, const char* path) {
  struct stat held, found;
  return fstat(fd, &held) == 0 && lstat(path, &found) == 0 && held.st_ino == found.st_ino &&
         held.st_dev == found.st_dev;
}

int try_lock(const char* path, int how = LOCK_EX) {
  Descriptor file(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || flock(file.get(), how | LOCK_NB) != 0 || !is_still_at(file.get(), path)) return -1;
  return file.release();
}

/// Makes the folder if missing and takes one of its locks; -1 after `patience_ms`.
int make_and_lock(const char* session, const char* name, int how, int patience_ms) {
  char folder[kSessionPathLimit], path[kFilePathLimit];
  const long long deadline = monotonic_ms() + patience_ms;
  for (;;) {
    if (!make_session_directory(session) || !session_path(session, folder) || !print_to(path, "%s/%s", folder, name))
      return -1;
    const int lock = try_lock(path, how);
    // A folder whose removal had begun stays, but may have lost this.
    if (lock >= 0) settle_place(folder);
    if (lock >= 0 || monotonic_ms() >= deadline) return lock;
    pause_ms(1);
  }
}

bool has_suffix(const char* text, const char* suffix) {
  const std::size_t length = strlen(text), tail = strlen(suffix);
  return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

bool somebody_listens(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!print_to(address.sun_path, "%s", path)) return false;
  const Descriptor socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return true;  // Can't tell: leave it alone.
  return connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

/// Calls visit(name) for each entry of a folder but "." and ".."; stops when it returns false.
template <class Visit>
void for_each_entry(const char* folder, Visit visit) {
  DIR* entries = opendir(folder);
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (!is_dots && !visit(entry->d_name)) break;
  }
  closedir(entries);
}

bool has_listener(const char* session) {
  char folder[kSessionPathLimit];
  if (!session_path(session, folder)) return false;
  bool found = false;
  for_each_entry(folder, [&](const char* name) {
    char path[kFilePathLimit];
    found = has_suffix(name, ".sock") && file_path(session, name, path) && somebody_listens(path);
    return !found;
  });
  return found;
}

bool has_file(const char* session, const char* name) {
  char path[kFilePathLimit];
  return file_path(session, name, path) && access(path, F_OK) == 0;
}

/// Whoever makes a folder takes one of its locks next, and tries again if the folder was swept away in between. So
/// where a lock's file lies, the lock tells.
bool is_settling(const char* session) {
  char folder[kSessionPathLimit];
  struct stat status;
  if (!session_path(session, folder) || stat(folder, &status) != 0) return false;
  if (has_file(session, "agent") || has_file(session, "lock") || has_file(session, "owner")) return false;
  return time(nullptr) - status.st_mtime < kSettlingSeconds;
}

/// Keeps everybody else from living in the folder: those who come wait for these locks, and find that they were
/// removed.
class Eviction {
 public:
  explicit Eviction(const char* session) : owner_(lock(session, "owner")), start_(lock(session, "lock")) {}
  bool holds() const { return owner_ && start_; }

 private:
  static int lock(const char* session, const char* name) {
    char path[kFilePathLimit];
    return file_path(session, name, path) ? try_lock(path) : -1;
  }
  Descriptor owner_;
  Descriptor start_;
};

void remove_file(const char* folder, const char* name) {
  char path[kFilePathLimit];
  if (print_to(path, "%s/%s", folder, name)) unlink(path);
}

/// For whoever holds the lock of its owners. That goes last: until then everybody waits, and who comes later takes a new
/// one, so that the folder stays.
void remove_folder(const char* session) {
  char folder[kSessionPathLimit];
  if (!session_path(session, folder) || !is_private_folder(folder)) return;
  for_each_entry(folder, [&](const char* name) {
    if (strcmp(name, "lock") != 0 && strcmp(name, "owner") != 0) remove_file(folder, name);
    return true;
  });
  remove_file(folder, "lock");
  remove_file(folder, "owner");
  rmdir(folder);
}

bool has_living_agent(const char* session) {
  AgentRecord record;
  return read_agent_record(session, record) && is_alive(record);
}

void sweep_session(const char* session) {
  // Before locks are taken, since that may make files and so the folder younger.
  if (is_settling(session) || has_living_agent(session)) return;
  const Eviction eviction(session);
  if (eviction.holds() && !has_living_agent(session) && !has_listener(session)) remove_folder(session);
}

/// All ranks of a node may meet the same.
bool stands_in(const char* path, const char* line) {
  auto* text = static_cast<char*>(malloc(2 * kTroubleLimit));
  if (text == nullptr) return false;
  const bool found = read_small_file(path, text, 2 * kTroubleLimit) && strstr(text, line) != nullptr;
  free(text);
  return found;
}

/// Calls visit(session) for each folder of this user and place that is named as a session may be.
template <class Visit>
void for_each_session(Visit visit) {
  char root[kSessionPathLimit];
  if (!root_path(root) || !is_private_folder(root)) return;
  for_each_entry(root, [&](const char* name) {
    char folder[kSessionPathLimit];
    const bool is_ours = session_path(name, folder) && strcmp(strrchr(folder, '/') + 1, name) == 0;
    if (is_ours && is_private_folder(folder)) visit(name);
    return true;
  });
}

}  // namespace

bool valid_session_name(const char* name) {
  if (name == nullptr || name[0] == '\0' || name[0] == '.') return false;
  const std::size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.");
  return name[length] == '\0' && length <= static_cast<std::size_t>(kSessionNameLimit);
}

bool session_path(const char* session, char (&out)[kSessionPathLimit]) {
  char root[kSessionPathLimit];
  if (!valid_session_name(session) || !root_path(root) || !print_to(out, "%s/%s", root, session)) return false;
  return !belongs_elsewhere(out) || print_to(out, "%s/%s.%08x", root, session, digest(this_place()));
}

bool make_session_directory(const char* session) {
  char root[kSessionPathLimit], folder[kSessionPathLimit];
  if (!session_path(session, folder) || !root_path(root) || !make_private_folder(root) || !make_private_folder(folder))
    return false;
  settle_place(folder);
  // Another place may have been faster.
  return session_path(session, folder) && make_private_folder(folder);
}

int lock_session(const char* session, int patience_ms) { return make_and_lock(session, "lock", LOCK_EX, patience_ms); }

int try_lock_session(const char* session) {
  char folder[kSessionPathLimit], path[kFilePathLimit];
  if (!session_path(session, folder) || !is_private_folder(folder) || !file_path(session, "lock", path))
    return kNoFolder;
  return try_lock(path);
}

int hold_session(const char* session) {
  // Somebody who sweeps may just look whether it is held.
  return make_and_lock(session, "owner", LOCK_SH, kHoldPatienceMs);
}

int take_monitors_place(const char* session) {
  char path[kFilePathLimit];
  return file_path(session, "monitor", path) ? try_lock(path) : -1;
}

void note_trouble(const char* session, const char* line) {
  char path[kFilePathLimit], text[1024];
  utsname names;
  if (!file_path(session, "trouble.log", path)) return;
  const Descriptor file(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > static_cast<off_t>(kTroubleLimit))
    return;
  snprintf(text, sizeof text - 1, "%s, process %d: %s", uname(&names) == 0 ? names.nodename : "localhost", getpid(),
           line);
  for (char* c = text; *c != '\0'; ++c) {
    if (*c == '\n') *c = ' ';
  }
  strcat(text, "\n");
  if (!stands_in(path, strstr(text, ": "))) write_all(file.get(), text, strlen(text));  // At once: lines don't mix.
}

bool write_agent_record(const char* session, const AgentRecord& record) {
  char path[kFilePathLimit], draft[kFilePathLimit], text[sizeof record.endpoint + 128];
  if (strchr(record.endpoint, '\n') != nullptr || !file_path(session, "agent", path) ||
      !print_to(draft, "%s.%d", path, getpid()) ||
      !print_to(text, "pid %d\nstart %llu\nmemory %d\nendpoint %s\n", record.pid,
                static_cast<unsigned long long>(record.start), record.memory_fd, record.endpoint))
    return false;
  const Descriptor file(open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file && write_all(file.get(), text, strlen(text)) && rename(draft, path) == 0) return true;
  unlink(draft);
  return false;
}

bool read_agent_record(const char* session, AgentRecord& record) {
  char path[kFilePathLimit], text[1024];
  AgentRecord found;
  if (!file_path(session, "agent", path) || !read_small_file(path, text) || !parse_record(text, found)) return false;
  record = found;
  return true;
}

void remove_agent_record(const char* session, const AgentRecord& record) {
  char path[kFilePathLimit];
  AgentRecord found;
  if (!read_agent_record(session, found) || found.pid != record.pid || found.start != record.start) return;
  if (file_path(session, "agent", path)) unlink(path);
}

bool is_alive(const AgentRecord& record) { return record.start != 0 && process_start_time(record.pid) == record.start; }

std::uint64_t process_start_time(pid_t pid) {
  char path[32], text[1024];
  if (pid <= 0 || !print_to(path, "/proc/%d/stat", pid) || !read_small_file(path, text)) return 0;
  const char* field = strrchr(text, ')');  // The name in field 2 may itself hold blanks and brackets.
  if (field == nullptr || strlen(field) < 3 || field[2] == 'Z' || field[2] == 'X') return 0;
  for (int number = 2; number < 22; ++number) {
    field = strchr(field + 1, ' ');
    if (field == nullptr) return 0;
  }
  return strtoull(field, nullptr, 10);
}

void sweep_dead_sessions(const char* keep) {
  for_each_session([keep](const char* session) {
    if (keep == nullptr || strcmp(session, keep) != 0) sweep_session(session);
  });
}

void remove_session_directory(const char* session) {
  char folder[kSessionPathLimit], owner[kFilePathLimit];
  if (!session_path(session, folder) || !is_private_folder(folder) || !print_to(owner, "%s/owner", folder)) return;
  const Descriptor nobody_owns_it(try_lock(owner));
  if (nobody_owns_it) remove_folder(session);
}

void remove_session_directory_if_empty(const char* session) {
  char folder[kSessionPathLimit];
  if (!session_path(session, folder) || !is_private_folder(folder)) return;
  int others = 0;
  for_each_entry(folder, [&](const char* name) {
    others += strcmp(name, "lock") != 0 && strcmp(name, "owner") != 0 && strcmp(name, "place") != 0;
    return others == 0;
  });
  if (others == 0) remove_session_directory(session);
}

void for_each_live_session(void (*visit)(const char* session, const AgentRecord& record, void* context),
                           void* context) {
  for_each_session([=](const char* session) {
    AgentRecord record;
    if (read_agent_record(session, record) && is_alive(record)) visit(session, record, context);
  });
}

}  // namespace idlewave::wire
