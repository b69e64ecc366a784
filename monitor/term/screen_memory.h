#pragma once
// Where ncurses writes to: memory, so that a frame leaves as one buffer and its bytes can be counted.

#include <cstdio>
#include <string>

namespace idlewave::term {

class ScreenMemory {
 public:
  ScreenMemory();
  ScreenMemory(const ScreenMemory&) = delete;
  ScreenMemory& operator=(const ScreenMemory&) = delete;
  ~ScreenMemory();

  std::FILE* file() const { return file_; }  ///< Null if there is no such memory to be had.
  std::string take();                        ///< What was written since the last call.

 private:
  std::FILE* file_ = nullptr;
};

}  // namespace idlewave::term
