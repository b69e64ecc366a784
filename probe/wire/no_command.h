#pragma once
// Why somebody may not command. It is found out in different places (the link knows spectators and recordings, the
// sender whether it takes orders at all) and told in one.

#include <cstdint>

namespace idlewave::wire {

enum class NoCommand : std::uint8_t {
  kRecording,     ///< It is not happening now.
  kSpectator,     ///< By choice, or by key.
  kEnded,         ///< The program is over.
  kNobodyThere,   ///< Nobody has answered yet, or nobody does any more.
  kInjectionOff,  ///< Whoever started the session did not allow it.
  kNoOrders,      ///< What runs can't be changed while it does.
  kUnknownOrder,  ///< It is one of a newer version.
};

/// One line: what is so and, where something can be done about it, what.
constexpr const char* to_words(NoCommand reason) {
  switch (reason) {
    case NoCommand::kRecording: return "a recording can't be changed";
    case NoCommand::kSpectator:
      return "a spectator can't change the session; attach without --view and, over tcp, with key.operator";
    case NoCommand::kEnded: return "the program has ended";
    case NoCommand::kNobodyThere: return "nobody is there to take the command";
    case NoCommand::kInjectionOff: return "injection is off in this session; start it with --allow-inject";
    case NoCommand::kNoOrders: return "a run on a LogGOPS network takes no orders while it runs";
    case NoCommand::kUnknownOrder: return "this order is not known to this version";
  }
  return "this session takes no commands";
}

/// Letting go of ranks is allowed where holding them is not.
constexpr bool forbids_clearing(NoCommand reason) { return reason != NoCommand::kInjectionOff; }

}  // namespace idlewave::wire
