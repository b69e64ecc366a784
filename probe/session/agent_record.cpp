#include "probe/session/agent_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/session/directory.h"
#include "probe/session/files.h"

namespace idlewave::session {
namespace {

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

/// Fields of /proc/<pid>/stat, from 1, as proc(5) counts them.
constexpr int kNameField = 2;
constexpr int kThreadsField = 20;
constexpr int kStartField = 22;

/// 0 where the line has no such field.
std::uint64_t number_behind(const char* name_end, int field) {
  const char* blank = name_end;
  for (int number = kNameField; blank != nullptr && number < field; ++number) blank = strchr(blank + 1, ' ');
  return blank != nullptr ? strtoull(blank, nullptr, 10) : 0;
}

}  // namespace

bool write_agent_record(const char* session, const AgentRecord& record) {
  char path[kSessionFileLimit], draft[kSessionFileLimit], text[sizeof record.endpoint + 128];
  if (strchr(record.endpoint, '\n') != nullptr || !session_file(session, "agent", path) ||
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
  char path[kSessionFileLimit], text[1024];
  AgentRecord found;
  if (!session_file(session, "agent", path) || !read_small_file(path, text) || !parse_record(text, found)) return false;
  record = found;
  return true;
}

void remove_agent_record(const char* session, const AgentRecord& record) {
  char path[kSessionFileLimit];
  AgentRecord found;
  if (!read_agent_record(session, found) || found.pid != record.pid || found.start != record.start) return;
  if (session_file(session, "agent", path)) unlink(path);
}

bool is_alive(const AgentRecord& record) { return record.start != 0 && process_start_time(record.pid) == record.start; }

std::uint64_t process_start_time(pid_t pid) {
  char path[32], text[1024];
  if (pid <= 0 || !print_to(path, "/proc/%d/stat", pid) || !read_small_file(path, text)) return 0;
  const char* const name_end = strrchr(text, ')');  // The name in field 2 may itself hold blanks and brackets.
  if (name_end == nullptr || strlen(name_end) < 3) return 0;
  const char state = name_end[2];
  // A process whose first thread has ended is shown as a zombie while others go on.
  if (state == 'X' || (state == 'Z' && number_behind(name_end, kThreadsField) < 2)) return 0;
  return number_behind(name_end, kStartField);
}

bool sees_processes() {
  char self[16] = {};
  return readlink("/proc/self", self, sizeof self - 1) > 0 && atoi(self) == getpid();
}

void for_each_live_session(void (*visit)(const char* session, const AgentRecord& record, void* context),
                           void* context) {
  for_each_session([=](const char* session) {
    AgentRecord record;
    if (read_agent_record(session, record) && is_alive(record)) visit(session, record, context);
  });
}

}  // namespace idlewave::session
