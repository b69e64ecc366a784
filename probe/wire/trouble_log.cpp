#include "probe/wire/trouble_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/wire/node_name.h"
#include "probe/wire/session_directory.h"
#include "probe/wire/session_files.h"

namespace idlewave::wire {
namespace {

constexpr std::size_t kTroubleLimit = 64 * 1024;

/// All ranks of a node may meet the same.
bool stands_in(const char* path, const char* line) {
  auto* text = static_cast<char*>(malloc(2 * kTroubleLimit));
  if (text == nullptr) return false;
  const bool found = read_small_file(path, text, 2 * kTroubleLimit) && strstr(text, line) != nullptr;
  free(text);
  return found;
}

}  // namespace

void note_trouble(const char* session, const char* line) {
  char path[kSessionFileLimit], text[1024], node[kNodeNameLimit];
  if (!session_file(session, "trouble.log", path)) return;
  const Descriptor file(open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > static_cast<off_t>(kTroubleLimit))
    return;
  node_name(node);
  snprintf(text, sizeof text - 1, "%s, process %d: %s", node, getpid(), line);
  for (char* c = text; *c != '\0'; ++c) {
    if (*c == '\n') *c = ' ';
  }
  strcat(text, "\n");
  if (!stands_in(path, strstr(text, ": "))) write_all(file.get(), text, strlen(text));  // At once: lines don't mix.
}

}  // namespace idlewave::wire
