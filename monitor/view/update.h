#pragma once
// A key becomes the next state, and what is to be done outside. Pure.

#include <variant>
#include <vector>

#include "monitor/view/canvas.h"
#include "monitor/view/key.h"
#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view {

struct Quit {};
/// Leave, and let what was started go on. Without `ends_with_us` the same as Quit.
struct Detach {};
struct SendCommand {
  wire::Command command;  ///< With id 0: whoever sends it chooses the id.
};
struct StartRecording {};
struct StopRecording {};
struct SaveScreen {};
/// Replays only.
struct ReplayPause {
  bool paused = false;
};
struct ReplaySeek {
  Nanoseconds to{};  ///< Session time.
};
using Effect =
    std::variant<Quit, Detach, SendCommand, StartRecording, StopRecording, SaveScreen, ReplayPause, ReplaySeek>;

struct Update {
  State state;
  std::vector<Effect> effects;  ///< In the order in which they are to be done.
};

/// `size` and `look` are those that the picture was drawn with: a click means what was seen there.
Update update(State state, const Key& key, const Model& model, Size size, const Look& look);

}  // namespace idlewave::view
