#pragma once
// How far something has come that takes long enough to make people wonder.

#include <chrono>
#include <string>

#include "probe/wire/vocabulary.h"

namespace idlewave::cli {

/// "43 %, 12 s left"; `share` of the work was done in `elapsed`.
std::string progress_in_words(double share, wire::Nanoseconds elapsed);

/// For Progress::reached.
constexpr double share_of(wire::Nanoseconds reached, wire::Nanoseconds all) {
  return all <= wire::Nanoseconds{0} ? 1 : double(reached.count()) / double(all.count());
}

/// A line on stderr, where that is a terminal: comes after a second, goes away with this.
class Progress {
 public:
  explicit Progress(std::string what);  ///< "reading a.iw".
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void reached(double share);  ///< May be called as often as one likes.

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& line);

  std::string what_;
  bool has_terminal_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_;
  std::size_t columns_ = 0;  ///< That our line covers.
};

}  // namespace idlewave::cli
