#include "monitor/host/host_record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/files.h"

namespace idlewave::host {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLargest = 64 << 10;

std::string record_path(const std::string& session) {
  char folder[session::kSessionPathLimit];
  return session::session_path(session.c_str(), folder) ? std::string(folder) + "/host" : std::string();
}

/// A record has one line for each value.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

template <class Number>
bool parse(const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool take(const std::string& key, const std::string& value, HostRecord& record) {
  if (key == "pid") return parse(value, record.pid);
  if (key == "start") return parse(value, record.start);
  if (key == "code") return parse(value, record.code.emplace());
  if (key == "recorded") return parse(value, record.recorded);
  if (key == "inject") record.takes_orders = value != "off";
  for (const auto& [name, field] :
       {std::pair{"endpoint", &HostRecord::endpoint}, std::pair{"program", &HostRecord::program},
        std::pair{"label", &HostRecord::label}, std::pair{"recording", &HostRecord::recording},
        std::pair{"failure", &HostRecord::failure}, std::pair{"output", &HostRecord::output}}) {
    if (key == name) record.*field = value;
  }
  return true;  // Unknown keys are for later versions.
}

/// Never through a link that somebody has put there.
bool write_draft(const std::string& path, const std::string& text) {
  unlink(path.c_str());
  const session::Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file && fchmod(file.get(), 0600) == 0 && session::write_all(file.get(), text.data(), text.size());
}

bool is_own_file(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

}  // namespace

std::string kept_output_path(const std::string& session) {
  char folder[session::kSessionPathLimit];
  return session::session_path(session.c_str(), folder) ? std::string(folder) + "/output" : std::string();
}

wire::Status write_host_record(const std::string& session, const HostRecord& record) {
  return write_host_record_at(record_path(session), record);
}

wire::Status write_host_record_at(const std::string& path, const HostRecord& record) {
  std::string text = fmt::format("pid {}\nstart {}\nendpoint {}\nprogram {}\nlabel {}\n", record.pid, record.start,
                                 record.endpoint, one_line(record.program), one_line(record.label));
  if (record.code) text += fmt::format("code {}\n", *record.code);
  if (!record.recording.empty()) text += fmt::format("recording {}\n", one_line(record.recording));
  if (record.recorded > 0) text += fmt::format("recorded {}\n", record.recorded);
  if (!record.failure.empty()) text += fmt::format("failure {}\n", one_line(record.failure));
  if (!record.takes_orders) text += "inject off\n";
  if (!record.output.empty()) text += fmt::format("output {}\n", one_line(record.output));
  const std::string draft = path + ".new";
  if (write_draft(draft, text) && std::rename(draft.c_str(), path.c_str()) == 0) return wire::ok();
  unlink(draft.c_str());
  return wire::Error{fmt::format("can't write to {}: is the disk full?", path)};
}

std::optional<HostRecord> read_last_host_record(const std::string& session) {
  return read_host_record_at(record_path(session));
}

std::optional<HostRecord> read_host_record_at(const std::string& path) {
  std::string text(kLargest + 1, 0);
  if (path.empty() || !is_own_file(path) || !session::read_small_file(path.c_str(), text.data(), text.size()))
    return std::nullopt;
  std::istringstream lines(text.c_str());
  HostRecord record;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || !take(line.substr(0, space), line.substr(space + 1), record)) return std::nullopt;
  }
  if (record.pid <= 0 || record.start == 0 || record.endpoint.empty()) return std::nullopt;
  return record;
}

std::optional<HostRecord> read_host_record(const std::string& session) {
  auto record = read_last_host_record(session);
  if (record && session::process_start_time(record->pid) != record->start) return std::nullopt;
  return record;
}

std::vector<std::string> hosted_sessions() {
  char folder[session::kSessionPathLimit];
  std::vector<std::string> sessions;
  if (!session::session_path("x", folder)) return sessions;
  std::error_code failed;
  for (fs::directory_iterator entry(fs::path(folder).parent_path(), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename();
    if (session::valid_session_name(name.c_str()) && read_host_record(name)) sessions.push_back(name);
  }
  std::sort(sessions.begin(), sessions.end());
  return sessions;
}

}  // namespace idlewave::host
