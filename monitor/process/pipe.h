#pragma once
// The streams of a program that we start.

#include <initializer_list>

namespace idlewave::process {

/// Closed by exec(). -1 and -1: there are no descriptors left.
struct Pipe {
  int read = -1, write = -1;
};
Pipe make_pipe();

/// Those that are none are passed over.
void close_all(std::initializer_list<int> fds);

void never_block(int fd);

}  // namespace idlewave::process
