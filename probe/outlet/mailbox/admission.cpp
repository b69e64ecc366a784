#include "probe/outlet/mailbox/admission.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "probe/outlet/mailbox/quiet_thread.h"

namespace idlewave::mailbox {
namespace {

constexpr const char* kQuestions = "inproc://zeromq.zap.01";
constexpr std::array<Role, 3> kAdmitted{Role::kOperator, Role::kViewer, Role::kAgent};  // As in ServerKey.

/// Public keys as they travel: 32 bytes.
using Admitted = std::array<std::string, kAdmitted.size()>;

Admitted decode(const ServerKey& key) {
  Admitted decoded;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    std::array<std::uint8_t, 32> bytes{};
    zmq_z85_decode(bytes.data(), key.admitted[i].c_str());
    decoded[i].assign(bytes.begin(), bytes.end());
  }
  return decoded;
}

/// Version, number, domain, address, routing id, mechanism, and what was presented.
using Question = std::vector<std::string>;

/// The role whose key was presented; null if it is none of ours.
const Role* role_of(const Question& question, const Admitted& admitted) {
  constexpr std::size_t kMechanism = 5, kKey = 6, kParts = 7;
  if (question.size() != kParts || question[kMechanism] != "CURVE") return nullptr;
  const auto found = std::ranges::find(admitted, question[kKey]);
  return found == admitted.end() ? nullptr : &kAdmitted[std::size_t(found - admitted.begin())];
}

Question receive(zmq::socket_t& socket) {
  Question question;
  zmq::message_t part;
  do {
    (void)socket.recv(part);
    question.push_back(part.to_string());
  } while (part.more());
  return question;
}

void answer(zmq::socket_t& socket, const Question& question, const Role* role) {
  const std::array<std::string, 6> parts{"1.0",
                                         question.size() > 1 ? question[1] : "",
                                         role != nullptr ? "200" : "400",
                                         role != nullptr ? "" : "this key is not of this session",
                                         role != nullptr ? name_of(*role) : "",
                                         ""};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    socket.send(zmq::buffer(parts[i]), is_last ? zmq::send_flags::none : zmq::send_flags::sndmore);
  }
}

/// Until the context is shut down.
void answer_all(zmq::socket_t socket, const Admitted& admitted) {
  try {
    for (;;) {
      const Question question = receive(socket);
      answer(socket, question, role_of(question, admitted));
    }
  } catch (const zmq::error_t&) {
    return;  // ETERM. All signals are blocked here, so nothing else interrupts.
  }
}

}  // namespace

const char* name_of(Role role) {
  switch (role) {
    case Role::kOperator: return "operator";
    case Role::kViewer: return "viewer";
    case Role::kAgent: return "agent";
    case Role::kOwner: break;
  }
  return "owner";
}

Role role_named(const char* name) {
  const auto found = std::ranges::find_if(kAdmitted, [&](Role role) { return std::strcmp(name, name_of(role)) == 0; });
  return found == kAdmitted.end() ? Role::kOwner : *found;
}

Admission::Admission(zmq::context_t& context, const ServerKey& key) : context_(context) {
  zmq::socket_t socket(context, zmq::socket_type::rep);
  socket.set(zmq::sockopt::linger, 0);
  socket.bind(kQuestions);
  thread_ = thread_without_signals(
      [socket = std::move(socket), admitted = decode(key)]() mutable { answer_all(std::move(socket), admitted); });
}

Admission::~Admission() {
  context_.shutdown();
  thread_.join();
}

}  // namespace idlewave::mailbox
