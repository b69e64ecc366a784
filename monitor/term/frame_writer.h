#pragma once
// Frames to a terminal that may be slower than we are: dropped, never queued, never interleaved.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace idlewave::term {

/// Does not own `fd`, which must be non-blocking. One thread.
class FrameWriter {
 public:
  explicit FrameWriter(int fd) : fd_(fd) {}
  /// Hands over what is left of the frame before. True when that is all gone and the terminal takes more.
  bool ready();
  /// Only when ready(). One write; what the terminal does not take is kept for ready().
  void write(std::string_view frame);
  /// The last words: what is left of a frame is given up (and the escape sequence it may have been cut in is
  /// cancelled), `bytes` are written, for as long as `patience` if the terminal is slow.
  void finish(std::string_view bytes, std::chrono::milliseconds patience);
  bool broken() const { return broken_; }  ///< The terminal is gone.
  std::uint64_t written() const { return written_; }

 private:
  std::size_t put(std::string_view bytes);

  int fd_;
  std::string rest_;
  bool broken_ = false;
  std::uint64_t written_ = 0;
};

}  // namespace idlewave::term
