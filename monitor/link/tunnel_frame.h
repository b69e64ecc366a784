#pragma once
// What two ends of a tunnel (tunnel.h) say to each other behind the greeting: a kind (8 bits), the number of a channel and
// the length of what follows (32 bits each, lowest byte first), that, and a line feed, since srun passes on whole lines.
// docs/protocol.md has the table.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::link {

enum class TunnelKind : std::uint8_t {
  kOpen = 1,  ///< From the agents' end: somebody has connected there.
  kData,      ///< Bytes of a channel.
  kTaken,     ///< So many bytes of a channel, 32 bits, have been handed on: as many more may come.
  kClose,     ///< Nothing of this channel comes from here any more, and nothing is taken.
  kSign,      ///< From the host's end: it lives.
  kFinish,    ///< From the host's end: the program has ended.
  kTrouble,   ///< From the agents' end: a line of what could not be done on its node.
  kDone,      ///< From the agents' end, its last: all has been said there.
};

struct TunnelFrame {
  TunnelKind kind;
  std::uint32_t channel;  ///< 0 where it is of none.
  std::span<const std::byte> body;
};

inline constexpr std::size_t kMostTunnelBody = 64u << 10;
inline constexpr std::size_t kMostTrouble = 1024;  ///< Bytes of a line.

void append_frame(std::vector<std::byte>& out, const TunnelFrame& frame);

/// The frame at the beginning of `bytes`, to which its body belongs. Nothing: more of it has yet to come. Error: none of
/// ours begins so, or has this length.
std::optional<wire::Result<TunnelFrame>> first_frame(std::span<const std::byte> bytes);

/// Of a frame with that body, in bytes.
std::size_t size_of_frame(std::size_t body);

std::vector<std::byte> body_of(std::uint32_t number);
std::uint32_t number_in(std::span<const std::byte> body);  ///< The first four bytes.

}  // namespace idlewave::link
