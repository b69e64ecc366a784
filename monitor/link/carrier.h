#pragma once
// A session's conversation over standard streams, where no port leads to it: the side where the session is. What is at
// the other end is a live link (link.h). Nothing is read on the way but, for one who may only look on, whether he
// attaches as such.

#include <optional>
#include <string>
#include <string_view>

#include "probe/wire/frame.h"
#include "probe/wire/result.h"

namespace idlewave::link {

/// What is said before the first frame, as a line of text.
struct Greeting {
  wire::Role role = wire::Role::kOperator;  ///< That whoever reads it is granted.
  std::string session{};                    ///< Empty: that of the first sender.
  std::string label{};                      ///< The program in one word; empty: not known.
};
std::string line_of(const Greeting& greeting);

/// A greeting, and what came before it: what a login shell prints, say.
struct Greeted {
  Greeting greeting;
  std::string noise;
};
/// Of all that has come so far, up to the end of a line. Nothing: it has yet to come. Error: another version, or a
/// terminal stands between.
std::optional<wire::Result<Greeted>> find_greeting(std::string_view text);

struct CarryOptions {
  std::string endpoint;  ///< Where the session is.
  std::string key;       ///< Key file, for tcp.
  Greeting greeting;     ///< A viewer's key makes a spectator, whatever its role.
  int in = 0, out = 1;
};
/// Until the other end of the descriptors is gone, or the session; ok then. SIGPIPE has to be ignored. What the session
/// says and nobody reads stays where it is, within the credits that the reader has granted.
wire::Status carry(CarryOptions options);

}  // namespace idlewave::link
