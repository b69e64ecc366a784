#pragma once
// What a relay no longer keeps, as far as one who comes late must know of it.

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "probe/wire/frame.h"

namespace idlewave::outlet {

/// One thread.
class Past {
 public:
  /// Takes note of frames that are about to be forgotten. Lives no longer than this.
  std::function<void(std::span<const std::byte>)> listener() {
    return [this](std::span<const std::byte> frame) { add(frame); };
  }
  void add(std::span<const std::byte> frame);

  /// For each node of which something was forgotten its roster (of 128 MiB of these), as if it had been sent just before the oldest frame
  /// that is kept; in the order in which the nodes were first heard, since the first to be heard says when the session
  /// began.
  std::vector<std::vector<std::byte>> summary() const;

 private:
  struct Node {
    std::size_t place = 0;            ///< Among the nodes, as they were first heard.
    std::vector<std::byte> roster{};  ///< As it came, which may unfold to some hundred times that. Empty: none.
    std::uint64_t sequence = 0;       ///< Of its latest frame that was forgotten.
  };
  void keep(Node& node, std::span<const std::byte> roster);

  std::map<std::string, Node> nodes_;
  std::size_t bytes_ = 0;  ///< Of rosters.
};

}  // namespace idlewave::outlet
