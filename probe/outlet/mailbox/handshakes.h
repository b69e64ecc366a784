#pragma once
// Whether the one whom we connect to over tcp lets us in. Without it a key that is not accepted looks like nobody
// there.

#include <string>
#include <zmq.hpp>

namespace idlewave::mailbox {

/// One thread. Destroy it before the socket it looks at.
class Handshakes {
 public:
  Handshakes(zmq::context_t& context, zmq::socket_t& dealer, std::string endpoint);  ///< Throws zmq::error_t.
  ~Handshakes();
  Handshakes(const Handshakes&) = delete;
  Handshakes& operator=(const Handshakes&) = delete;

  void look();  ///< Takes in what has happened since.
  /// One line; empty while there is hope, and again once it has worked.
  const std::string& failure() const { return failure_; }
  void* handle() { return events_.handle(); }  ///< Readable when look() has something to see.

 private:
  void note(int event);

  zmq::socket_t& dealer_;
  zmq::socket_t events_;
  std::string endpoint_;
  std::string failure_;
  int broken_off_ = 0;  ///< In a row.
};

}  // namespace idlewave::mailbox
