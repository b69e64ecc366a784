#include "monitor/timeline/by_rank.h"

#include <algorithm>

namespace idlewave::timeline {

void ByRank::add(const std::string& node, Rank rank, std::span<const wire::Event> events) {
  if (std::size_t(rank) >= chains_.size()) chains_.resize(std::size_t(rank) + 1);
  Chain& chain = chains_[std::size_t(rank)];
  const Number number = next();
  if (chain.node == nullptr) {
    chain.first = number;
    ranks_.push_back(rank);
  } else {
    batches_[std::size_t(chain.last - first_)].to_next = std::uint32_t(number - chain.last);
  }
  chain.node = &node;
  chain.last = number;
  chain.until = events.back().time;
  batches_.push_back({events.data(), std::uint32_t(events.size())});
}

void ByRank::drop_before(Number end) {
  std::erase_if(ranks_, [&](Rank rank) { return chains_[std::size_t(rank)].node == nullptr; });
  batches_.erase(batches_.begin(), batches_.begin() + std::ptrdiff_t(end - first_));
  first_ = end;
}

}  // namespace idlewave::timeline
