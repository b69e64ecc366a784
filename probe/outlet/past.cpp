#include "probe/outlet/past.h"

#include <utility>

namespace idlewave::outlet {

void Past::add(std::span<const std::byte> bytes) {
  auto frame = wire::decode(bytes);
  if (!frame || !wire::is_sequenced(*frame)) return;
  Node& node = nodes_.try_emplace(frame->node, Node{.place = nodes_.size()}).first->second;
  node.sequence = frame->sequence;
  if (std::holds_alternative<wire::Roster>(frame->body)) node.roster = std::move(*frame);
}

std::vector<std::vector<std::byte>> Past::summary() const {
  std::vector<std::vector<std::byte>> frames(nodes_.size());
  for (const auto& [name, node] : nodes_) {
    if (!node.roster) continue;
    wire::Frame roster = *node.roster;
    roster.sequence = node.sequence;
    frames[node.place] = wire::encode(roster);
  }
  std::erase_if(frames, [](const auto& frame) { return frame.empty(); });
  return frames;
}

}  // namespace idlewave::outlet
