#pragma once

#include <bit>
#include <cstdint>

#include "probe/mpi/language.h"
#include "probe/mpi/partner.h"

namespace idlewave::mpi {

/// What a persistent request sends each time that it is started.
enum class Sends : std::uint8_t {
  kNothing,          ///< It receives, sends to nobody, or belongs to a group.
  kMessage,          ///< Of which it is decided whether it waits for its receiver.
  kStandardMessage,  ///< That may wait or not.
};

/// Requests that a rank has started, by their handle, until they are waited for. Bounded; no allocation; one thread. A
/// call costs one multiplication and, in most cases, one place looked at.
class RequestTable {
 public:
  static constexpr std::uint32_t kPlaces = 8192;           ///< A power of two.
  static constexpr std::uint32_t kMost = kPlaces / 4 * 3;  ///< Requests; beyond it none is taken.

  struct Request {
    std::uint64_t handle = 0;  ///< 0: no request.
    /// kAnySource: the communicator in which the status counts. kGroup: the group's key. Of a persistent send: its bytes.
    std::int64_t more = 0;
    Partner partner;
    union {
      std::uint32_t freed_communicators = 0;  ///< kAnySource: so many had been freed when it was made.
      wire::Rank receiver;                    ///< Of what it sends, in MPI_COMM_WORLD; below 0: somebody else.
    };
    Language language = Language::kC;  ///< kAnySource: of the communicator.
    bool is_persistent = false;        ///< Stays, to be started again.
    Sends sends = Sends::kNothing;
    bool is_idle = false;  ///< Persistent, and not started.

    /// Of somebody who is known, once.
    bool is_plain_receive() const { return partner.side == Side::kFrom && !is_persistent; }

    /// Word by word: an assignment of the whole would wait for a copy of it on the stack.
    void begin(std::uint64_t its_handle, Partner its_partner) {
      handle = its_handle;
      more = 0;
      freed_communicators = 0;
      partner.rank = its_partner.rank;
      partner.side = its_partner.side;
      sends = Sends::kNothing;
      language = Language::kC;
      is_persistent = is_idle = false;
    }
  };

  /// A new one, in the place of one with the same handle whose end was not seen. Null: there is no room.
  Request* put(std::uint64_t handle, Partner partner = {}) {
    std::uint32_t at = home_of(handle);
    while (places_[at].handle != 0 && places_[at].handle != handle) at = next(at);
    if (places_[at].handle == 0) {
      if (size_ == kMost) return nullptr;
      ++size_;
    }
    places_[at].begin(handle, partner);
    return &places_[at];
  }

  /// Null: it is not known.
  Request* find(std::uint64_t handle) {
    std::uint32_t at = home_of(handle);
    while (places_[at].handle != handle) {
      if (places_[at].handle == 0) return nullptr;
      at = next(at);
    }
    return &places_[at];
  }

  /// One that find gave; other places that were given are no longer valid.
  void erase(Request* request) {
    auto hole = static_cast<std::uint32_t>(request - places_);
    --size_;
    // Those behind it that were pushed on by it move up, so that every look ends at a free place.
    for (std::uint32_t at = next(hole); places_[at].handle != 0; at = next(at)) {
      const std::uint32_t pushed = (at - home_of(places_[at].handle)) % kPlaces;
      if (pushed < (at - hole) % kPlaces) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole].handle = 0;
  }

  std::uint32_t size() const { return size_; }

 private:
  static std::uint32_t home_of(std::uint64_t handle) {
    return static_cast<std::uint32_t>((handle * 0x9e3779b97f4a7c15u) >> (64 - std::countr_zero(kPlaces)));
  }
  static std::uint32_t next(std::uint32_t at) { return (at + 1) % kPlaces; }

  std::uint32_t size_ = 0;
  alignas(64) Request places_[kPlaces] = {};  ///< None of which lies in two cache lines.
};

}  // namespace idlewave::mpi
