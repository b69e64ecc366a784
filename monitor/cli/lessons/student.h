#pragma once
// Goes through a lesson as a student would who knows theory: answers, orders, waits, turns the page.

#include <string>
#include <vector>

#include "monitor/cli/monitor.h"

namespace idlewave::cli::lessons {

/// One thread; the monitor has a tutor, and outlives it.
class Student {
 public:
  explicit Student(Monitor& monitor) : monitor_(monitor) {}

  /// Does what is to be done now. True once the last page is over.
  bool go_on(Nanoseconds now);
  /// What was said, a page each, since it was last asked for.
  std::vector<std::string> news();
  /// Why it could not go on, one line; empty: it could.
  const std::string& failure() const { return failure_; }
  /// Whether every effect was seen that a page was to show.
  bool saw_all() const;

 private:
  void answer();
  void order(Nanoseconds now);
  /// Of the latest order: that it was refused, and why; empty: it was not.
  std::string refusal() const;
  void give_up(std::string why);
  bool has_read();
  bool turn();
  bool all_have_stepped() const;

  Monitor& monitor_;
  std::optional<Nanoseconds> ready_since_;  ///< Since when the page waits for its premise.
  std::optional<Nanoseconds> said_since_;   ///< Since when it says what was found.
  std::optional<wire::CommandId> sent_;     ///< The latest order.
  std::vector<std::string> news_;
  std::string failure_;
  bool over_ = false;
};

}  // namespace idlewave::cli::lessons
