#include "probe/outlet/past.h"

namespace idlewave::outlet {
namespace {

constexpr std::size_t kMostBytes = 128 << 20;  // Of rosters of honest nodes ten thousands.

}  // namespace

void Past::add(std::span<const std::byte> bytes) {
  auto frame = wire::decode(bytes);
  if (!frame || !wire::is_sequenced(*frame)) return;
  Node& node = nodes_.try_emplace(frame->node, Node{.place = nodes_.size()}).first->second;
  node.sequence = frame->sequence;
  if (std::holds_alternative<wire::Roster>(frame->body)) keep(node, bytes);
}

void Past::keep(Node& node, std::span<const std::byte> roster) {
  const std::size_t others = bytes_ - node.roster.size();
  if (others + roster.size() > kMostBytes) return;
  node.roster.assign(roster.begin(), roster.end());
  bytes_ = others + roster.size();
}

std::vector<std::vector<std::byte>> Past::summary() const {
  std::vector<std::vector<std::byte>> frames(nodes_.size());
  for (const auto& [name, node] : nodes_) {
    auto roster = wire::decode(node.roster);
    if (!roster) continue;
    roster->sequence = node.sequence;
    frames[node.place] = wire::encode(*roster);
  }
  std::erase_if(frames, [](const auto& frame) { return frame.empty(); });
  return frames;
}

}  // namespace idlewave::outlet
