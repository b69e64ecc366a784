#include "probe/session/trouble_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probe/session/directory.h"
#include "probe/session/files.h"
#include "probe/session/node_name.h"

namespace idlewave::session {
namespace {

constexpr std::size_t kTroubleLimit = 64 * 1024;

/// A file that may not grow is no reason to end the program: the signal that a write brings about is taken back.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~WithoutSizeSignal() {
    constexpr timespec kAtOnce{};
    if (!was_pending_) sigtimedwait(&set_, nullptr, &kAtOnce);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  sigset_t set_, before_;
  bool was_pending_;
};

/// All ranks of a node may meet the same.
bool stands_in(const char* path, const char* line) {
  auto* text = static_cast<char*>(malloc(2 * kTroubleLimit));
  if (text == nullptr) return false;
  const bool found = read_small_file(path, text, 2 * kTroubleLimit) && strstr(text, line) != nullptr;
  free(text);
  return found;
}

/// Where the session's host, on whatever node it is, looks for it.
bool place_with_host(const char* node, char (&out)[PATH_MAX]) {
  const char* key = getenv("IDLEWAVE_KEY");
  const char* slash = key != nullptr ? strrchr(key, '/') : nullptr;
  if (slash == nullptr || !print_to(out, "%.*s", static_cast<int>(slash - key), key) || !is_private_folder(out))
    return false;
  return print_to(out, "%.*s/trouble.%s", static_cast<int>(slash - key), key, node);
}

bool place_on_this_node(const char* session, char (&out)[PATH_MAX]) {
  char path[kSessionFileLimit];
  return session_file(session, "trouble.log", path) && print_to(out, "%s", path);
}

bool is_out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

/// A link can be made without a descriptor. The first that is, stands.
void leave_as_link(const char* path, const char* text) {
  char link[PATH_MAX];
  if (print_to(link, "%s%s", path, kTroubleLink)) (void)!symlink(text, link);
}

}  // namespace

void note_trouble(const char* session, const char* line) {
  char path[PATH_MAX], text[1024], node[kNodeNameLimit];
  node_name(node);
  if (!place_with_host(node, path) && !place_on_this_node(session, path)) return;
  snprintf(text, sizeof text - 1, "%s, process %d: %s", node, getpid(), line);
  for (char* c = text; *c != '\0'; ++c) {
    if (*c == '\n') *c = ' ';
  }
  const Descriptor file(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file && is_out_of_descriptors(errno)) return leave_as_link(path, text);
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > static_cast<off_t>(kTroubleLimit))
    return;
  strcat(text, "\n");
  if (stands_in(path, strstr(text, ": "))) return;
  const WithoutSizeSignal guard;
  write_all(file.get(), text, strlen(text));  // At once: lines don't mix.
}

}  // namespace idlewave::session
