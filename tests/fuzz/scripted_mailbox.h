#pragma once
// A mailbox without sockets, put in the place of the real one when a conversation is linked: its peers say what an
// input says, and its clock, which is the program's steady clock, goes on only when somebody sleeps.

#include <deque>
#include <functional>

#include "probe/outlet/mailbox/mailbox.h"

namespace idlewave::fuzz {

struct Script {
  std::deque<mailbox::Message> inbox;
  std::function<mailbox::Sent(const mailbox::Peer&, std::span<const std::byte>)> sent;  ///< Hears what is sent.
  wire::Nanoseconds now{1};
};

/// Of the conversation that runs.
Script& script();

}  // namespace idlewave::fuzz
