#pragma once
// A recording that is looked at as a whole, when nobody watches how it comes.

#include <memory>
#include <string>

#include "monitor/cli/observer.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/result.h"

namespace idlewave::cli {

struct Recording {
  /// Has seen all of it, with what is damaged as a loss.
  std::unique_ptr<Observer> observer;
  wire::FrameLogDamage damage;

  const timeline::Timeline& timeline() const { return observer->timeline(); }
};

/// Reads it to its end, on the road that a live session comes. `memory`: bytes for the history. Error: one line.
wire::Result<Recording> read_recording(const std::string& path, std::uint64_t memory);

}  // namespace idlewave::cli
