#include "probe/outlet/mailbox/handshakes.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace idlewave::mailbox {
namespace {

constexpr const char* kEvents = "inproc://handshakes";
constexpr int kWatched = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                         ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
/// A program that ends may break one off. One that holds another key than the one we know breaks off all.
constexpr int kTooMany = 3;

}  // namespace

Handshakes::Handshakes(zmq::context_t& context, zmq::socket_t& dealer, std::string endpoint)
    : dealer_(dealer), events_(context, zmq::socket_type::pair), endpoint_(std::move(endpoint)) {
  events_.set(zmq::sockopt::linger, 0);
  events_.set(zmq::sockopt::rcvhwm, 0);  // ZeroMQ's own thread waits for room here.
  if (zmq_socket_monitor(dealer.handle(), kEvents, kWatched) != 0) throw zmq::error_t();
  events_.connect(kEvents);
}

Handshakes::~Handshakes() { zmq_socket_monitor(dealer_.handle(), nullptr, 0); }

void Handshakes::look() {
  zmq::message_t part;
  try {
    while (events_.recv(part, zmq::recv_flags::dontwait)) {
      std::uint16_t event = 0;  // Then four bytes of detail, and the endpoint in a part of its own.
      if (part.more() && part.size() >= sizeof event) {
        std::memcpy(&event, part.data(), sizeof event);
        note(event);
      }
    }
  } catch (const zmq::error_t&) {
    return;  // A signal: the next look sees the rest.
  }
}

void Handshakes::note(int event) {
  switch (event) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      broken_off_ = 0;
      failure_.clear();
      return;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      failure_ = endpoint_ + ": our key was not accepted; each session has keys of its own";
      return;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      failure_ = endpoint_ + ": what answers there is no session with keys";
      return;
    default:
      if (++broken_off_ >= kTooMany)
        failure_ = endpoint_ + ": our key does not fit: it is of another session, or another program listens there";
  }
}

}  // namespace idlewave::mailbox
