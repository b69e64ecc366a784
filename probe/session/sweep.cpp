#include "probe/session/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/files.h"

namespace idlewave::session {
namespace {

constexpr time_t kSettlingSeconds = 60;
/// What tells of nobody that lives in a folder.
constexpr const char* kNobodys[] = {"lock", "owner", "place", "agent.log"};

bool has_suffix(const char* text, const char* suffix) {
  const std::size_t length = strlen(text), tail = strlen(suffix);
  return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

bool has_listener(const char* folder) {
  bool found = false;
  for_each_entry(folder, [&](const char* name) {
    char path[kSessionFileLimit];
    found = has_suffix(name, ".sock") && print_to(path, "%s/%s", folder, name) && somebody_listens(path);
    return !found;
  });
  return found;
}

bool has_file(const char* folder, const char* name) {
  char path[kSessionFileLimit];
  return print_to(path, "%s/%s", folder, name) && access(path, F_OK) == 0;
}

/// Whoever makes a folder takes one of its locks next, and tries again if the folder was swept away in between. So
/// where a lock's file lies, the lock tells.
bool is_settling(const char* folder) {
  struct stat status;
  if (stat(folder, &status) != 0) return false;
  if (has_file(folder, "agent") || has_file(folder, "lock") || has_file(folder, "owner")) return false;
  return time(nullptr) - status.st_mtime < kSettlingSeconds;
}

/// Keeps everybody else from living in the folder: those who come wait for these locks, and find that they were
/// removed.
class Eviction {
 public:
  explicit Eviction(const char* folder) : owner_(lock(folder, "owner")), start_(lock(folder, "lock")) {}
  bool holds() const { return owner_ && start_; }

 private:
  static int lock(const char* folder, const char* name) {
    char path[kSessionFileLimit];
    return print_to(path, "%s/%s", folder, name) ? try_lock(path) : -1;
  }
  Descriptor owner_;
  Descriptor start_;
};

void remove_file(const char* folder, const char* name) {
  char path[kSessionFileLimit];
  if (print_to(path, "%s/%s", folder, name)) unlink(path);
}

/// For whoever holds the lock of its owners. That goes last: until then everybody waits, and who comes later takes a new
/// one, so that the folder stays.
void remove_folder(const char* folder) {
  for_each_entry(folder, [&](const char* name) {
    if (strcmp(name, "lock") != 0 && strcmp(name, "owner") != 0) remove_file(folder, name);
    return true;
  });
  remove_file(folder, "lock");
  remove_file(folder, "owner");
  rmdir(folder);
}

/// Nobody is in it, then: whoever comes has a lock first, and makes the folder anew where that has gone.
void remove_folder_without_locks(const char* folder) {
  remove_file(folder, "place");
  rmdir(folder);
}

bool has_living_agent(const char* session) {
  AgentRecord record;
  return read_agent_record(session, record) && is_alive(record);
}

void sweep_session(const char* session, const char* folder) {
  // Before locks are taken, since that may make files and so the folder younger.
  if (is_settling(folder) || has_living_agent(session)) return;
  const Eviction eviction(folder);
  if (eviction.holds() && !has_living_agent(session) && !has_listener(folder)) remove_folder(folder);
}

/// An agent has the folder itself locked as long as ranks may come.
bool is_locked(const char* folder) {
  const Descriptor inside(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !inside || flock(inside.get(), LOCK_EX | LOCK_NB) != 0;
}

/// Whoever starts an agent has a lock until that has the folder's, and would find it taken while we look.
void sweep_beside(const char* folder) {
  if (is_settling(folder)) return;
  const Eviction eviction(folder);
  if (eviction.holds() && !is_locked(folder) && !has_listener(folder)) remove_folder(folder);
}

}  // namespace

/// By its folder, which has another name than the session where another place's stands beside it.
void sweep_dead_sessions(const char* keep) {
  char kept[kSessionPathLimit] = {};
  if (keep != nullptr && !session_path(keep, kept)) kept[0] = '\0';
  for_each_session([&kept](const char* session) {
    char folder[kSessionPathLimit];
    if (session_path(session, folder) && strcmp(folder, kept) != 0) sweep_session(session, folder);
  });
  for_each_folder_beside(sweep_beside);
}

void remove_session_directory(const char* session) {
  char folder[kSessionPathLimit], owner[kSessionFileLimit];
  if (!session_path(session, folder) || !is_private_folder(folder) || !print_to(owner, "%s/owner", folder)) return;
  const Descriptor nobody_owns_it(try_lock(owner));
  if (nobody_owns_it) remove_folder(folder);
}

void remove_session_directory_if_empty(const char* session) {
  char folder[kSessionPathLimit];
  if (!session_path(session, folder) || !is_private_folder(folder)) return;
  int others = 0;
  for_each_entry(folder, [&](const char* name) {
    others += std::ranges::none_of(kNobodys, [name](const char* each) { return strcmp(name, each) == 0; });
    return others == 0;
  });
  if (others != 0) return;
  const bool has_locks = has_file(folder, "owner") || has_file(folder, "lock");
  has_locks ? remove_session_directory(session) : remove_folder_without_locks(folder);
}

}  // namespace idlewave::session
