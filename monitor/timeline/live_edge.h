#pragma once

#include <chrono>
#include <optional>
#include <set>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

using wire::Nanoseconds;

/// Up to where everything has been told, of many nodes: the earliest of those that run and keep up. O(log nodes) for each
/// word of a node.
class LiveEdge {
 public:
  /// A node that is so far behind the others is not waited for.
  static constexpr Nanoseconds kSilence = std::chrono::seconds(2);

  /// Of a node: session time before which it has told everything, and whether its stream goes on.
  struct Place {
    Nanoseconds until{};
    bool runs = true;
  };
  /// `place`: where the node stood, nothing before the first time; then where it stands.
  void move(std::optional<Place>& place, Place to);
  /// Session time; 0 before anybody has told anything. Those that ended hold nobody up.
  Nanoseconds now() const;

 private:
  std::multiset<Nanoseconds> all_, running_;
};

}  // namespace idlewave::timeline
