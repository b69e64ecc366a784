#pragma once
// What a session's host (host.h) says of itself, in the file `host` of the session's folder: for the screens that show
// it, and for whoever asks what runs here.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::host {

struct HostRecord {
  pid_t pid = 0;
  std::uint64_t start = 0;     ///< session::process_start_time(pid).
  std::string endpoint;        ///< Where screens attach.
  std::string program;         ///< Its command line, one line.
  std::string label;           ///< The program in one word.
  std::optional<int> code;     ///< Exit code of the program, once it has ended.
  std::string recording;       ///< Path; empty: none now.
  std::uint64_t recorded = 0;  ///< Bytes of it, or of the one before, on disk.
  std::string failure;         ///< Why the recording ended early; empty: it did not.
  bool takes_orders = true;    ///< Operators may hold ranks.
  std::string output;          ///< File that the program's output goes to; empty: it goes where its starter's went.
  friend bool operator==(const HostRecord&, const HostRecord&) = default;
};

wire::Status write_host_record(const std::string& session, const HostRecord& record);  ///< Atomically, by rename.
/// Nothing if the session has no host, or one that is no longer alive.
std::optional<HostRecord> read_host_record(const std::string& session);
/// The same, also of a host that has gone and left its folder.
std::optional<HostRecord> read_last_host_record(const std::string& session);

/// The same in another file, which is the user's alone; whose process it was is not asked.
wire::Status write_host_record_at(const std::string& path, const HostRecord& record);
std::optional<HostRecord> read_host_record_at(const std::string& path);

/// Where the host of a session keeps what its program prints while a screen has the terminal.
std::string kept_output_path(const std::string& session);

/// Sessions of this user on this node whose host lives.
std::vector<std::string> hosted_sessions();

}  // namespace idlewave::host
