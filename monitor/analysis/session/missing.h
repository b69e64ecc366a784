#pragma once
// What a session lacks to be whole. Made of what has come alone, so that a recording says the same as the session did.

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::session {

using wire::Nanoseconds;
using wire::Rank;

/// Nothing, if End has come from every node that announced ranks, every rank of the program was announced and has
/// reported, to its own end, and nothing in between was lost or not seen.
struct Missing {
  /// A node with ranks that has not said End.
  struct Node {
    std::string name;
    Nanoseconds heard_until{};
    bool told = false;  ///< It has told anything at all.
    /// Others have told of much later times already: it is silent now, whether the session is over or not.
    bool behind = false;
  };
  enum class Why : std::uint8_t {
    kNeverAnnounced,  ///< By no node.
    kNeverReported,   ///< Its node announced it, and that was all.
    kLeftOut,         ///< It reports, and the memory for the history has no room for it.
    kUnfinished,      ///< Its node's stream ended while it ran.
  };
  /// Neighbouring ranks, [first, last].
  struct Ranks {
    Rank first = 0;
    Rank last = 0;
    Why why = Why::kNeverAnnounced;
  };

  /// A node that announced ranks, of which some never reported anything.
  struct Unreported {
    std::string node;
    Rank silent = 0;
    Rank of = 0;  ///< Announced by this node.
  };

  /// A rank in which other threads than the one that reports have called the library that is watched.
  struct Unseen {
    Rank rank = 0;
    std::uint64_t calls = 0;
  };

  bool nobody = false;  ///< No node has announced any rank.
  std::vector<Node> nodes;
  std::vector<Ranks> ranks;
  std::vector<Unreported> unreported;  ///< Whose ranks, of those, were announced.
  std::vector<Unseen> unseen;          ///< By rank.
  std::vector<timeline::Loss> holes;   ///< As they were noticed.
  std::vector<timeline::Loss> late;    ///< What had happened before this monitor, or this recording, began to listen.
  std::uint64_t more = 0;              ///< Beyond the first thousand nodes, stretches of ranks, unseen ones, or holes.

  bool is_complete() const { return has_all_since_start() && late.empty(); }
  bool has_all_since_start() const {
    return !nobody && nodes.empty() && ranks.empty() && unseen.empty() && holes.empty() && more == 0;
  }
};

Missing find_missing(const timeline::Timeline& timeline);

std::string to_words(Missing::Why why);  ///< "never reported"; after the name of a rank.
std::string to_words(const timeline::Loss& loss);
/// "node n2 silent since 12.3 s, node n1 not heard after 60.1 s, n3: 4 of 8 ranks never reported and 3 more"; empty if nothing is missing.
std::string to_words(const Missing& missing);

/// "24 calls of other threads on 3 ranks not seen"; empty if there is none.
std::string to_words(const std::vector<Missing::Unseen>& unseen);

/// The entries that a list of losses needs beside Timeline::losses(): nodes that fell silent, ranks that never
/// reported, calls that were not seen.
std::vector<timeline::Loss> losses_of(const Missing& missing, Nanoseconds now);

}  // namespace idlewave::analysis::session
