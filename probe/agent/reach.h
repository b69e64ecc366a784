#pragma once

#include <string>

namespace idlewave::agent {

/// In words, what becomes of an attempt to connect to `endpoint` (tcp://HOST:PORT or ipc://PATH), so that somebody who
/// waits in vain for a monitor learns why: "connection refused", "no answer for 2 s", "host name not known". Takes as
/// long as the system takes to look the name up, and up to 2 s for an answer.
std::string try_to_reach(const std::string& endpoint);

/// Does that in a thread of its own, and adds the line to the session's trouble.log.
void explain_silence(const std::string& session, const std::string& endpoint);

}  // namespace idlewave::agent
