#include "workloads/sim/network/collective_waits.h"

#include "workloads/sim/network/bulk_schedule.h"
#include "workloads/sim/network/collectives.h"

namespace idlewave::sim::network {
namespace {

using core::WaitTable;

/// A rank's partners in a tree.
struct Branch {
  std::vector<Rank> from;
  std::vector<Rank> to;
};

std::vector<Branch> branches_of(const CollectiveCall& call, Rank ranks) {
  const CollectiveRounds rounds(call, ranks);
  std::vector<Branch> branches(static_cast<std::size_t>(ranks));
  for (Rank rank = 0; rank < ranks; ++rank) {
    Branch& branch = branches[static_cast<std::size_t>(rank)];
    for (std::uint32_t k = 0; k < rounds.count(rank); ++k) {
      const Round round = rounds.at(rank, k);
      if (round.from != kNobody) branch.from.push_back(round.from);
      if (round.to != kNobody) branch.to.push_back(round.to);
    }
  }
  return branches;
}

/// Those whose messages come to the rank, through however many others.
std::vector<Rank> all_senders(const std::vector<Branch>& branches, Rank rank) {
  std::vector<Rank> all = branches[static_cast<std::size_t>(rank)].from;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& further = branches[static_cast<std::size_t>(all[i])].from;
    all.insert(all.end(), further.begin(), further.end());
  }
  return all;
}

WaitTable waits_in_tree(const CollectiveCall& call, Rank ranks) {
  WaitTable table(ranks);
  const std::vector<Branch> branches = branches_of(call, ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto& to = branches[static_cast<std::size_t>(rank)].to;
    table.follow(rank, {{table.wait(rank, all_senders(branches, rank), to, false)}});
  }
  return table;
}

bool has_root(Collective algorithm) {
  return algorithm == Collective::kBroadcast || algorithm == Collective::kReduce || algorithm == Collective::kGather ||
         algorithm == Collective::kScatter;
}

/// Whichever engine runs it.
bool is_eager(const CollectiveCall& call, const support::Communication& communication, Rank ranks) {
  const bool adds_up = call.algorithm == Collective::kGather || call.algorithm == Collective::kScatter;
  const double longest = double(call.bytes) * (adds_up ? ranks : 1);
  return communication.protocol != support::Protocol::kRendezvous &&
         longest <= double(communication.loggops.value_or(support::LogGops{}).rendezvous_size);
}

}  // namespace

bool goes_by_rendezvous(const support::Communication& communication) {
  return communication.message_size > network_of(communication).rendezvous_size;
}

WaitTable waits_of_collective(const support::Communication& communication, Rank ranks) {
  const CollectiveCall call = call_of(communication);
  WaitTable table(ranks);
  switch (communication.collective->mode) {
    case support::CollectiveMode::kNonblocking: return table;
    case support::CollectiveMode::kIdeal: break;
    case support::CollectiveMode::kBlocking:
      if (has_root(call.algorithm)) return is_eager(call, communication, ranks) ? waits_in_tree(call, ranks) : table;
  }
  const bool waits = communication.collective->mode == support::CollectiveMode::kBlocking;
  for (Rank rank = 0; rank < ranks; ++rank)
    table.follow(rank,
                 waits ? std::vector<core::WaitsOfStep>{{table.collective()}} : std::vector<core::WaitsOfStep>{{}});
  return table;
}

}  // namespace idlewave::sim::network
