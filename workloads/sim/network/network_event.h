#pragma once
// What happens at a moment on a network.

#include <cstdint>

namespace idlewave::sim::network {

struct NetworkEvent {
  std::int64_t time = 0;
  std::uint32_t number = 0;  ///< No two events in a queue have the same.
  std::uint32_t what = 0;    ///< For the queue's owner.

  friend bool operator<(const NetworkEvent& a, const NetworkEvent& b) { return a.key() < b.key(); }

 private:
  /// One number, since the comparison of two cannot be foretold and costs a branch.
  __extension__ using Key = __int128;
  Key key() const { return Key{time} * (Key{1} << 64) + number; }
};

}  // namespace idlewave::sim::network
