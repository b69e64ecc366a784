#pragma once
// What a key may ask for beyond the next state: to be done by the monitor's loop.

#include <string>
#include <variant>

#include "probe/wire/frame.h"

namespace idlewave::view {

struct Quit {};
/// Leave, and let what was started go on. Without `ends_with_us` the same as Quit.
struct Detach {};
struct SendCommand {
  wire::Command command;  ///< With id 0: whoever sends it chooses the id.
};
/// Noise that is not said by its words alone but read from a file, `trace:FILE`. The form that asked stays until it has been
/// read (take_noise).
struct ReadNoise {
  std::string text;
};
struct StartRecording {};
struct StopRecording {};
struct SaveScreen {};
/// Replays only.
struct ReplayPause {
  bool paused = false;
};
struct ReplaySeek {
  wire::Nanoseconds to{};  ///< Session time.
};
/// To what the lesson asks. The form that asked stays until the answer has been taken.
struct AnswerLesson {
  std::string text;
};
struct TurnLesson {
  int pages = 1;  ///< Negative: back.
};
using Effect = std::variant<Quit, Detach, SendCommand, ReadNoise, StartRecording, StopRecording, SaveScreen,
                            ReplayPause, ReplaySeek, AnswerLesson, TurnLesson>;

}  // namespace idlewave::view
