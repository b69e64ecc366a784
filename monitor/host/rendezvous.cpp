#include "monitor/host/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "probe/outlet/mailbox/keys.h"
#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/files.h"
#include "probe/session/node_name.h"
#include "probe/session/place.h"

namespace idlewave::host {
namespace fs = std::filesystem;
namespace {

constexpr auto kSettling = std::chrono::minutes(1);  ///< Between a folder for keys and the host that it is for.

/// Of all nodes.
fs::path all_rendezvous() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && cache[0] == '/') return fs::path(cache) / "idlewave";
  return home != nullptr && home[0] == '/' ? fs::path(home) / ".cache/idlewave" : fs::path();
}

std::string this_node() {
  char name[session::kNodeNameLimit];
  session::node_name(name);
  return name;
}

/// One for each node: only there can be seen whether a session is gone.
fs::path rendezvous_here() {
  const fs::path all = all_rendezvous();
  return all.empty() ? all : all / this_node();
}

/// In a container with process numbers of its own a host can't be seen from here; it may live as well.
bool may_live(const fs::path& rendezvous, const HostRecord& host) {
  return session::belongs_elsewhere(rendezvous.c_str()) || session::process_start_time(host.pid) == host.start;
}

/// A host that has yet to say that it is there has the session's folder already, and may see another one than we do.
bool is_gone(const fs::path& rendezvous) {
  if (const auto host = read_host_record_at(rendezvous / "host")) return !may_live(rendezvous, *host);
  char folder[session::kSessionPathLimit];
  std::error_code failed;
  const auto made = fs::last_write_time(rendezvous, failed);
  if (failed || fs::file_time_type::clock::now() - made < kSettling) return false;
  return session::session_path(rendezvous.filename().c_str(), folder) && !fs::exists(folder, failed) && !failed;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::optional<Announced> announced_at(const fs::path& rendezvous) {
  const std::string session = rendezvous.filename(), node = rendezvous.parent_path().filename();
  auto host = read_host_record_at(rendezvous / "host");
  if (!host || !session::valid_session_name(session.c_str())) return std::nullopt;
  if (node == this_node() && !may_live(rendezvous, *host)) return std::nullopt;
  return Announced{session, node, std::move(*host), mailbox::key_files(rendezvous).operators};
}

/// Before anything is looked at or removed below it: what holds it may be open to others.
wire::Status make_private(const fs::path& folder) {
  if (session::make_private_folder(folder.c_str())) return wire::ok();
  const int why = errno;
  if (session::is_there(folder.c_str()))
    return wire::Error{fmt::format(
        "{}: no place for the session's keys: it is a link, belongs to somebody else or can be written by others",
        folder.string())};
  return wire::Error{fmt::format("{}: can't be made for the session's keys: {}", folder.string(), std::strerror(why))};
}

}  // namespace

wire::Result<std::string> make_rendezvous(const std::string& session) {
  const fs::path here = rendezvous_here();
  if (here.empty())
    return wire::Error{
        "neither HOME nor XDG_CACHE_HOME names a folder for the keys of a session over tcp: set one that all nodes "
        "see"};
  std::error_code ignored;  // ~/.cache: nobody's home is made.
  fs::create_directory(all_rendezvous().parent_path(), ignored);
  for (const fs::path& each : {all_rendezvous(), here})
    if (const wire::Status made = make_private(each); !made) return made.error();
  for (const fs::path& other : entries_of(here))
    if (is_gone(other)) remove_rendezvous(other.filename());
  const fs::path folder = here / session;
  // Those that are gone were removed; its ranks would not find their keys any more.
  if (has_rendezvous(session))
    return wire::Error{fmt::format(
        "a session '{}' of this node, by another IDLEWAVE_DIR or in a container of its own, has its keys in "
        "{}: choose another name (--session), or remove that folder if the session is over",
        session, folder.string())};
  if (const wire::Status made = make_private(folder); !made) return made.error();
  session::settle_place(folder.c_str());
  return folder.string();
}

bool has_rendezvous(const std::string& session) {
  const fs::path here = rendezvous_here();
  const auto host = here.empty() ? std::nullopt : read_host_record_at(here / session / "host");
  return host && may_live(here / session, *host);
}

void remove_rendezvous(const std::string& session) {
  std::error_code ignored;
  const fs::path here = rendezvous_here();
  if (!here.empty() && session::valid_session_name(session.c_str())) fs::remove_all(here / session, ignored);
}

wire::Status announce(const std::string& session, const HostRecord& host) {
  return write_host_record_at(rendezvous_here() / session / "host", host);
}

std::vector<Announced> announced_sessions() {
  std::vector<Announced> all;
  const fs::path root = all_rendezvous();
  if (root.empty()) return all;
  for (const fs::path& node : entries_of(root))
    for (const fs::path& rendezvous : entries_of(node))
      if (auto found = announced_at(rendezvous)) all.push_back(std::move(*found));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.session < b.session; });
  return all;
}

}  // namespace idlewave::host
