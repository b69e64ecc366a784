#pragma once
// For terminals that can only print: the picture as lines, now and then. No escape sequence.

#include <chrono>
#include <functional>
#include <optional>

#include "monitor/term/screen.h"

namespace idlewave::term {

/// Between two pictures, unless a key was pressed.
inline constexpr std::chrono::seconds kTextPeriod{10};

class TextScreen final : public Screen {
 public:
  using Clock = std::function<std::chrono::nanoseconds()>;

  /// `clock` tells the time since any moment.
  explicit TextScreen(Clock clock) : clock_(std::move(clock)) {}

  std::string draw(const view::paint::Canvas& canvas) override;
  void start_over(view::paint::Size) override { hurry(); }
  void hurry() override { next_.reset(); }

 private:
  Clock clock_;
  std::optional<std::chrono::nanoseconds> next_;  ///< When the next picture is due; unset: now.
  std::string shown_;
};

}  // namespace idlewave::term
