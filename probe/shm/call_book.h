#pragma once
// What one rank has done in the functions of a library that is watched, as it stands in its slot: sums since it joined.
// The thread that reports alone writes, but for what others have called, each number by itself (relaxed); a reader may
// see a call in one of them and not yet in another. Places are taken one after the other, and what makes a place known is
// written last (release).

#include <atomic>
#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::shm {

inline constexpr std::uint32_t kCallFunctions = 256;  ///< Of one rank; more than there are wrapped ones.
inline constexpr int kCallNameLimit = 40;             ///< With NUL.
inline constexpr std::uint32_t kCallPairs = 1024;     ///< A power of two.
/// Receivers that are told apart; the rest of the places keeps the search short.
inline constexpr std::uint32_t kCallPairsUsed = kCallPairs / 4 * 3;

/// The same of the threads beside that one, all together; a search looks at so many places.
inline constexpr std::uint32_t kThreadPairs = 512;
inline constexpr std::uint32_t kThreadPairLooks = 32;

struct CallBook {
  struct Function {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> bytes{0};    ///< That the calls had the library carry.
    std::atomic<std::uint64_t> unsized{0};  ///< Calls that don't tell how many.
    std::atomic<std::int64_t> time_ns{0};   ///< Inside; orders that held the rank there are left out.
    std::atomic<std::int64_t> longest_ns{0};
    char name[kCallNameLimit] = {};
  };
  struct Pair {
    std::atomic<std::int32_t> taken_by{0};  ///< The receiving rank + 1; 0: free. Written last.
    std::atomic<std::uint64_t> messages{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  std::atomic<std::uint32_t> functions{0};  ///< Places that are taken.
  /// To receivers for whom there was no room, or who are not ranks of the program.
  std::atomic<std::uint64_t> other_messages{0};
  std::atomic<std::uint64_t> other_bytes{0};
  std::atomic<std::uint64_t> unseen_calls{0};  ///< Of other threads, which write it: of none of them is more known.
  Function function[kCallFunctions];
  /// Of the threads that report beside that one, which all write here. By the library's own number of a function.
  Function by_threads[kCallFunctions];
  Pair pair[kCallPairs];  ///< Open addressing, see home_of.
  /// Of those threads. Here who takes a place says so first, and then adds what it has sent.
  Pair pair_by_threads[kThreadPairs];
  std::atomic<std::uint64_t> other_messages_by_threads{0};
  std::atomic<std::uint64_t> other_bytes_by_threads{0};

  /// Where the search for a receiver begins; it goes on to the next place.
  static std::uint32_t home_of(wire::Rank rank) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15u) >> 32) % kCallPairs;
  }
};

}  // namespace idlewave::shm
