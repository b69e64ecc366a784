#pragma once
// What can be said about an endpoint without ZeroMQ: whether it is one, whether its ipc socket file is stale, and in
// which words it failed.

#include <string>

#include "probe/wire/result.h"

namespace idlewave::mailbox {

/// "tcp://127.0.0.1:5555", "tcp://*:0" or "ipc:///path"; other transports are refused.
wire::Status check_endpoint(const std::string& endpoint);

bool is_tcp(const std::string& endpoint);

/// Whether one can connect there: an error if the port is left open, or another user listens at an ipc endpoint.
wire::Status check_listener(const std::string& endpoint);

/// Makes an ipc endpoint free to be bound: removes the socket file that a dead program left behind. An error if
/// somebody listens there or the path is something else than a socket, either of which ZeroMQ would silently remove.
/// Other endpoints: nothing to do.
wire::Status clear_stale_socket(const std::string& endpoint);

/// True if it is certain that nobody listens there: the socket file of an ipc endpoint is gone, or leads nowhere.
bool is_deserted(const std::string& endpoint);

wire::Error endpoint_taken(const std::string& endpoint);

/// The line for a failed bind or connect; `error_number` is what errno held.
wire::Error endpoint_error(const std::string& endpoint, int error_number);

}  // namespace idlewave::mailbox
