#include "monitor/link/tunnel_frame.h"

#include <algorithm>
#include <string>

#include "probe/wire/printable.h"

namespace idlewave::link {
namespace {

constexpr std::size_t kNumber = 4, kTunnelHead = 1 + 2 * kNumber;  // bytes
constexpr std::byte kTunnelTail{'\n'};
constexpr std::size_t kQuotedOfTunnel = 60;

struct Lengths {
  std::size_t least, most;
};

std::optional<Lengths> lengths_of(TunnelKind kind) {
  switch (kind) {
    case TunnelKind::kOpen:
    case TunnelKind::kClose:
    case TunnelKind::kSign:
    case TunnelKind::kFinish:
    case TunnelKind::kDone: return Lengths{0, 0};
    case TunnelKind::kData: return Lengths{1, kMostTunnelBody};
    case TunnelKind::kTaken: return Lengths{kNumber, kNumber};
    case TunnelKind::kTrouble: return Lengths{1, kMostTrouble};
  }
  return std::nullopt;
}

wire::Error none_of_ours(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kQuotedOfTunnel));
  return {"between two frames came what is none: '" + wire::printable(text) + "'"};
}

}  // namespace

std::vector<std::byte> body_of(std::uint32_t number) {
  std::vector<std::byte> bytes(kNumber);
  for (std::size_t i = 0; i < kNumber; ++i) bytes[i] = std::byte(number >> (8 * i) & 0xff);
  return bytes;
}

std::uint32_t number_in(std::span<const std::byte> body) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < kNumber; ++i) number |= std::uint32_t(body[i]) << (8 * i);
  return number;
}

void append_frame(std::vector<std::byte>& out, const TunnelFrame& frame) {
  out.push_back(std::byte(frame.kind));
  for (const std::uint32_t number : {frame.channel, std::uint32_t(frame.body.size())}) {
    const std::vector<std::byte> bytes = body_of(number);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  out.insert(out.end(), frame.body.begin(), frame.body.end());
  out.push_back(kTunnelTail);
}

std::size_t size_of_frame(std::size_t body) { return kTunnelHead + body + 1; }

std::optional<wire::Result<TunnelFrame>> first_frame(std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto kind = TunnelKind(bytes[0]);
  const auto lengths = lengths_of(kind);
  if (!lengths) return none_of_ours(bytes);
  if (bytes.size() < kTunnelHead) return std::nullopt;
  const std::size_t length = number_in(bytes.subspan(1 + kNumber));
  if (length < lengths->least || length > lengths->most) return none_of_ours(bytes);
  if (bytes.size() < size_of_frame(length)) return std::nullopt;
  if (bytes[kTunnelHead + length] != kTunnelTail) return none_of_ours(bytes);
  return TunnelFrame{kind, number_in(bytes.subspan(1)), bytes.subspan(kTunnelHead, length)};
}

}  // namespace idlewave::link
