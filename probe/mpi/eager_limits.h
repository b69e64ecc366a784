#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "probe/wire/vocabulary.h"

namespace idlewave::mpi {

enum class Protocol : std::uint8_t { kEager, kRendezvous, kUnknown };

/// Whether a send of a size waits for its receiver. MPI libraries don't say it, and it differs from peer to peer (same node
/// or not), so it is learnt from the program's own sends. No allocation; one thread.
///
/// - Nonblocking sends: were they complete once posted? For each peer and size (in quarters of an octave) eight are looked
///   at, then one each time that their number has doubled. If a quarter of these was not complete, such sends wait.
/// - Sends of up to 256 bytes are taken to be eager without a look (Open MPI's inline sends over shared memory have the
///   smallest limit known), those from 4 MiB on to wait. Small persistent sends are looked at all the same: Open MPI's wait.
/// - Blocking sends only tell how long they took. Where no nonblocking send shows it, and 32 blocking ones, and a quarter
///   of all, took longer than any copy would, such sends wait. Then eight long ones are enough for any other peer and
///   larger size. Another program on the core makes fewer of them long than that. That blocking sends do not wait is never
///   concluded: each time the receiver may have been there already.
class EagerLimits {
 public:
  static constexpr std::uint64_t kSurelyEager = 256, kSurelyRendezvous = std::uint64_t{4} << 20;

  /// Of a known size, one that is not persistent.
  static bool is_surely_eager(std::int64_t bytes) { return static_cast<std::uint64_t>(bytes) <= kSurelyEager; }

  Protocol of(wire::Rank peer, std::uint64_t bytes, bool is_persistent = false) const {
    if (bytes <= kSurelyEager && !is_persistent) [[likely]]
      return Protocol::kEager;
    if (bytes >= kSurelyRendezvous) return Protocol::kRendezvous;
    const Peer& known = peers_[home_of(peer)];
    const Sends& sends = bytes <= kSurelyEager ? known.small_persistent : known.by_size[size_class(bytes)];
    if (!is_of(known, peer)) return Protocol::kUnknown;
    if (sends.looked_at < kEnough) return have_blocked(sends, bytes) ? Protocol::kRendezvous : Protocol::kUnknown;
    return 4 * sends.unfinished >= sends.looked_at ? Protocol::kRendezvous : Protocol::kEager;
  }

  /// A nonblocking send was posted: is it worth a look whether it is complete?
  bool wants_to_see(wire::Rank peer, std::uint64_t bytes, bool is_persistent = false) {
    if ((bytes <= kSurelyEager && !is_persistent) || bytes >= kSurelyRendezvous) return false;
    Sends& sends = sends_of(peer, bytes);
    ++sends.posted;
    return sends.looked_at < kEnough || std::has_single_bit(sends.posted);
  }
  void saw(wire::Rank peer, std::uint64_t bytes, bool was_complete) {
    Sends& sends = sends_of(peer, bytes);
    ++sends.looked_at;
    sends.unfinished += !was_complete;
  }
  /// A blocking one is over, in which the rank has been for so long.
  void blocked(wire::Rank peer, std::uint64_t bytes, std::int64_t ns) {
    if (bytes <= kSurelyEager || bytes >= kSurelyRendezvous) return;
    Sends& sends = sends_of(peer, bytes);
    if (sends.blocking == UINT16_MAX) sends.blocking /= 2, sends.long_ones /= 2;
    ++sends.blocking;
    sends.long_ones += ns > kLongestStart + kLongestPerByte * static_cast<std::int64_t>(bytes);
    if (have_surely_blocked(sends)) fewest_waiting_ = std::min(fewest_waiting_, bytes);
  }

 private:
  static constexpr std::int64_t kLongestStart = 20'000, kLongestPerByte = 1;  ///< ns of a send that does not wait.
  static constexpr std::uint32_t kPeers = 256;
  static constexpr std::uint16_t kEnough = 8;
  static constexpr int kClasses = 4 * std::countr_zero(kSurelyRendezvous / kSurelyEager);
  struct Sends {
    std::uint32_t posted = 0;
    std::uint16_t looked_at = 0, unfinished = 0;
    std::uint16_t blocking = 0, long_ones = 0;
  };
  struct Peer {
    std::int64_t rank_and_one = 0;  ///< 0: nobody.
    Sends small_persistent;         ///< Of up to kSurelyEager.
    Sends by_size[kClasses] = {};
  };

  static bool have_surely_blocked(const Sends& sends) {
    return sends.long_ones >= 4 * kEnough && 4 * sends.long_ones >= sends.blocking;
  }
  bool have_blocked(const Sends& sends, std::uint64_t bytes) const {
    return have_surely_blocked(sends) || (bytes >= fewest_waiting_ && sends.long_ones >= kEnough);
  }
  static bool is_of(const Peer& known, wire::Rank peer) { return known.rank_and_one == std::int64_t{peer} + 1; }
  /// Of sizes between the two sure ones.
  static int size_class(std::uint64_t bytes) {
    const int octave = std::bit_width(bytes - 1) - std::bit_width(kSurelyEager);
    const std::uint64_t lowest = kSurelyEager << octave;  // which is not of the octave
    return 4 * octave + static_cast<int>(4 * (bytes - 1 - lowest) / lowest);
  }
  /// A peer that belongs to the place of another takes it.
  static std::uint32_t home_of(wire::Rank peer) { return static_cast<std::uint32_t>(peer) % kPeers; }
  Sends& sends_of(wire::Rank peer, std::uint64_t bytes) {
    Peer& known = peers_[home_of(peer)];
    if (!is_of(known, peer)) known = {.rank_and_one = std::int64_t{peer} + 1};
    return bytes <= kSurelyEager ? known.small_persistent : known.by_size[size_class(bytes)];
  }

  std::uint64_t fewest_waiting_ = kSurelyRendezvous;  ///< Bytes of blocking sends that wait, to whomever.
  Peer peers_[kPeers] = {};
};

}  // namespace idlewave::mpi
