#pragma once
// Where agents on other nodes find a session that listens over tcp.

#include <string>

#include "probe/wire/result.h"

namespace idlewave::host {

/// `bound` as other machines write it: the wildcard address becomes one of this machine, that of its name if that is
/// not a loopback address, else that of its first interface that is up; alone, the machine is reached by itself.
std::string reachable_endpoint(const std::string& bound);

/// A folder of mode 0700 for the keys of `session` that other nodes see where they see the user's home; made anew.
/// Those of sessions that are gone are removed.
wire::Result<std::string> make_key_folder(const std::string& session);
void remove_key_folder(const std::string& session);

}  // namespace idlewave::host
