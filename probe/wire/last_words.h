#pragma once
// For the last catch of a main: no exception of a library, and no lack of memory, ends a program without a line.

#include <string>

namespace idlewave::wire {

/// What the exception in flight says, as people are told. Call it in a catch block only.
std::string last_words();

}  // namespace idlewave::wire
