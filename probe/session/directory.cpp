#include "probe/session/directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/session/files.h"
#include "probe/session/place.h"

namespace idlewave::session {
namespace {

constexpr int kHoldPatienceMs = 1000;

bool root_path(char (&out)[kSessionPathLimit]) {
  const char* chosen = getenv("IDLEWAVE_DIR");
  // What is said of its folder to others is a line.
  if (chosen != nullptr && chosen[0] != '\0')
    return chosen[0] == '/' && strchr(chosen, '\n') == nullptr && print_to(out, "%s", chosen);
  return print_to(out, "/tmp/idlewave-%u", static_cast<unsigned>(geteuid()));
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

/// Of a lock that was not to be had: it may be the next moment. A folder may be swept away between its making and its locking.
bool is_busy(int error) { return error == EWOULDBLOCK || error == EINTR || error == ENOENT; }

/// Makes the folder if missing and takes one of its locks; -1 after `patience_ms`, or at once where there is nothing to wait
/// for, and errno as of lock_session.
int make_and_lock(const char* session, const char* name, int how, int patience_ms) {
  char folder[kSessionPathLimit], path[kSessionFileLimit];
  const long long deadline = monotonic_ms() + patience_ms;
  for (;;) {
    if (!make_session_directory(session) || !session_path(session, folder) || !print_to(path, "%s/%s", folder, name))
      return -1;
    const int lock = try_lock(path, how);
    const int error = errno;
    // A folder whose removal had begun stays, but may have lost this.
    if (lock >= 0) settle_place(folder);
    if (lock < 0) errno = is_busy(error) ? EWOULDBLOCK : error;
    if (lock >= 0 || !is_busy(error) || monotonic_ms() >= deadline) return lock;
    pause_ms(1);
  }
}

}  // namespace

bool valid_session_name(const char* name) {
  if (name == nullptr || name[0] == '\0' || name[0] == '.') return false;
  const std::size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.");
  return name[length] == '\0' && length <= static_cast<std::size_t>(kSessionNameLimit);
}

/// Where the folder of that name is another place's, this one has its own beside it, also when the other one has gone first.
bool session_path(const char* session, char (&out)[kSessionPathLimit]) {
  char root[kSessionPathLimit], beside[kSessionPathLimit];
  if (!valid_session_name(session) || !root_path(root) || !print_to(out, "%s/%s", root, session)) return false;
  const bool is_taken = belongs_elsewhere(out);
  if (!is_taken && is_there(out)) return true;
  if (!print_to(beside, "%s/%s.%08x", root, session, digest_of_this_place())) return !is_taken;
  if (is_taken || is_there(beside)) memcpy(out, beside, sizeof out);
  return true;
}

bool session_file(const char* session, const char* name, char (&out)[kSessionFileLimit]) {
  char folder[kSessionPathLimit];
  return session_path(session, folder) && print_to(out, "%s/%s", folder, name);
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
  char folder[kSessionPathLimit], path[kSessionFileLimit];
  if (!session_path(session, folder) || !is_private_folder(folder) || !session_file(session, "lock", path))
    return kNoFolder;
  return try_lock(path);
}

int hold_session(const char* session) {
  // Somebody who sweeps may just look whether it is held.
  return make_and_lock(session, "owner", LOCK_SH, kHoldPatienceMs);
}

int take_monitors_place(const char* session) {
  char path[kSessionFileLimit];
  return session_file(session, "monitor", path) ? try_lock(path) : -1;
}

void for_each_session(void (*visit)(const char* session, void* context), void* context) {
  char root[kSessionPathLimit];
  if (!root_path(root) || !is_private_folder(root)) return;
  for_each_entry(root, [&](const char* name) {
    char folder[kSessionPathLimit];
    const bool is_ours = session_path(name, folder) && strcmp(strrchr(folder, '/') + 1, name) == 0;
    if (is_ours && is_private_folder(folder)) visit(name, context);
    return true;
  });
}

void for_each_folder_beside(void (*visit)(const char* folder, void* context), void* context) {
  char root[kSessionPathLimit];
  if (!root_path(root) || !is_private_folder(root)) return;
  for_each_entry(root, [&](const char* name) {
    char folder[kSessionPathLimit];
    const bool may_be_one = valid_session_name(name) && print_to(folder, "%s/%s", root, name);
    if (may_be_one && is_private_folder(folder) && belongs_to_other_processes(folder)) visit(folder, context);
    return true;
  });
}

}  // namespace idlewave::session
