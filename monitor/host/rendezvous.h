#pragma once
// Where a session over tcp is met from other nodes that see the user's home: ~/.cache/idlewave/NODE/SESSION
// (XDG_CACHE_HOME), mode 0700, NODE being that of its host.
//   key.*         the session's keys
//   place         as in a session's folder (probe/session/directory.h): whose process numbers those of the host are
//   host          what its host says of itself (host_record.h); its endpoint is one that other nodes reach
//   trouble.NODE  what ranks and agents of that node could not do (probe/session/trouble_log.h)

#include <string>
#include <vector>

#include "monitor/host/host_record.h"
#include "probe/wire/result.h"

namespace idlewave::host {

/// The folder of `session` on this node, made anew; those of sessions of this node that are gone are removed. One whose
/// host can't be seen from here (it has process numbers of its own, as in a container) stays.
wire::Result<std::string> make_rendezvous(const std::string& session);
/// Another session of this name has one here.
bool has_rendezvous(const std::string& session);
void remove_rendezvous(const std::string& session);

/// Says there that the session is found at `host.endpoint`.
wire::Status announce(const std::string& session, const HostRecord& host);

struct Announced {
  std::string session;
  std::string node;  ///< Of its host.
  HostRecord host;
  std::string key;  ///< Path of its key.operator.
};
/// Sessions of this user whose hosts have said where they are, by name. Whether one on another node still lives is seen
/// by attaching.
std::vector<Announced> announced_sessions();

}  // namespace idlewave::host
