#include "workloads/collectives/payload.h"

namespace idlewave::collectives {
namespace {

constexpr std::int64_t kOfStep = 17;
constexpr std::int64_t kOfRank = 4099;  // large and odd: neighbours in rank, step and element differ

std::size_t blocks_sent(Collective collective, Rank ranks, Rank rank) {
  if (collective != Collective::kScatter) return 1;
  return rank == 0 ? static_cast<std::size_t>(ranks) : 0;
}

std::size_t blocks_received(Collective collective, Rank ranks, Rank rank) {
  switch (collective) {
    case Collective::kAllreduce:
    case Collective::kScatter: return 1;
    case Collective::kAllgather: break;
    case Collective::kGather: return rank == 0 ? static_cast<std::size_t>(ranks) : 0;
  }
  return static_cast<std::size_t>(ranks);
}

}  // namespace

std::int64_t given_by(Rank rank, Step step, std::size_t element) {
  return (std::int64_t{rank} + 1) * kOfRank + step * kOfStep + static_cast<std::int64_t>(element);
}

std::int64_t sum_of_given(Rank ranks, Step step, std::size_t element) {
  const std::int64_t n = ranks;
  return n * (n + 1) / 2 * kOfRank + n * (step * kOfStep + static_cast<std::int64_t>(element));
}

Payload::Payload(Collective collective, Rank ranks, Rank rank, std::size_t elements)
    : collective_(collective),
      ranks_(ranks),
      rank_(rank),
      elements_(elements),
      sent_(blocks_sent(collective, ranks, rank) * elements),
      received_(blocks_received(collective, ranks, rank) * elements) {}

void Payload::fill(Step step) {
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    const Rank owner = collective_ == Collective::kScatter ? static_cast<Rank>(i / elements_) : rank_;
    sent_[i] = given_by(owner, step, i % elements_);
  }
}

Rank Payload::owner_of_received(std::size_t block) const {
  return collective_ == Collective::kScatter ? rank_ : static_cast<Rank>(block);
}

std::uint64_t Payload::wrong(Step step) const {
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < received_.size(); ++i) {
    const std::size_t element = i % elements_;
    const std::int64_t expected = collective_ == Collective::kAllreduce
                                      ? sum_of_given(ranks_, step, element)
                                      : given_by(owner_of_received(i / elements_), step, element);
    wrong += received_[i] == expected ? 0 : 1;
  }
  return wrong;
}

}  // namespace idlewave::collectives
