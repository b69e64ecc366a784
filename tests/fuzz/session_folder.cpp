// What lies in a session's folder: the agent's record, the host's, files and folders with any name.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "monitor/host/host_record.h"
#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/sweep.h"
#include "tests/fuzz/road.h"

namespace idlewave::fuzz {
namespace {

/// Made once, and gone with the program.
class Root {
 public:
  Root() {
    std::string pattern = "/tmp/iw-fuzz-XXXXXX";
    require(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    setenv("IDLEWAVE_DIR", path_.c_str(), 1);
  }
  ~Root() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void write(const std::string& path, std::span<const std::uint8_t> bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  require(::write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  close(fd);
}

void fill(Bytes& in, const std::string& folder) {
  constexpr const char* kNames[] = {"agent", "agent",      "agent",   "host",      "host",
                                    "lock",  "agent.sock", "trouble", "agent.log", "strange"};
  for (int files = int(in.below(4)) + 1; files > 0; --files) {
    const std::string path = folder + "/" + kNames[in.below(std::size(kNames))];
    if (in.below(16) == 0)
      mkdir(path.c_str(), 0700);
    else
      write(path, in.take(in.below(1500)));
  }
}

void visit(const char* session, const session::AgentRecord& record, void*) {
  require(session::valid_session_name(session) && record.endpoint[sizeof record.endpoint - 1] == '\0');
}

}  // namespace

void run_road(Bytes& in) {
  static const Root root;
  const std::string name = in.below(4) == 0 ? in.text(60) : "s";
  char path[session::kSessionPathLimit];
  if (!session::valid_session_name(name.c_str()) || !session::make_session_directory(name.c_str())) return;
  require(session::session_path(name.c_str(), path) && std::string_view(path).starts_with(root.path()));
  fill(in, path);
  session::AgentRecord record;
  if (session::read_agent_record(name.c_str(), record)) {
    require(record.pid > 0 && record.memory_fd >= 0);
    require(session::write_agent_record(name.c_str(), record));
  }
  (void)host::read_last_host_record(name);
  session::for_each_live_session(visit, nullptr);
  session::remove_session_directory(name.c_str());
  session::sweep_dead_sessions(nullptr);
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace idlewave::fuzz
