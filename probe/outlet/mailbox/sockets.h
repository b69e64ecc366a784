#pragma once
// The sockets of a gate: the port at which anybody may come, and the one behind it at which ZeroMQ listens.

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "probe/session/descriptor.h"
#include "probe/wire/result.h"

namespace idlewave::mailbox {

/// At tcp://HOST:PORT as ZeroMQ reads it: an address or an interface, * for all addresses or any port. Error: one line.
wire::Result<session::Descriptor> listen_at(const std::string& endpoint);
/// With its address and port as numbers.
std::string endpoint_of(int listener);

/// To the socket of that abstract name, without its first NUL, under a name of its own, by which whoever listens there
/// knows the connection again. None if nobody does.
session::Descriptor connect_to(const std::string& inner);
std::string own_name(int fd);  ///< Empty if it has none.
/// Of the other side, as accept or getpeername gave it.
std::string name_in(const sockaddr_un& address, socklen_t size);

}  // namespace idlewave::mailbox
