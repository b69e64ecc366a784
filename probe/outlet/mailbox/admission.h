#pragma once
// Who is let in by a socket that listens over tcp: the answers to libzmq's question about each connection (ZAP, RFC
// 27).

#include <string>
#include <thread>
#include <zmq.hpp>

#include "probe/outlet/mailbox/keys.h"

namespace idlewave::mailbox {

/// The role by which connections are known that a key was admitted for; it travels with each of their messages.
const char* name_of(Role role);
/// kOwner if the name is nobody's.
Role role_named(const char* name);

/// A thread that answers until this is destroyed. Make it before the socket is bound: libzmq lets anybody in while
/// nobody answers. Destroy it after that socket; it ends the context's other sockets, too.
class Admission {
 public:
  Admission(zmq::context_t& context, const ServerKey& key);  ///< Throws zmq::error_t, std::system_error.
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

 private:
  zmq::context_t& context_;
  std::thread thread_;
};

}  // namespace idlewave::mailbox
