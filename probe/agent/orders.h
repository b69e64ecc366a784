#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "probe/agent/resident.h"
#include "probe/wire/frame.h"

namespace idlewave::agent {

/// What an order is judged by.
struct Crew {
  const std::map<wire::Rank, std::unique_ptr<Resident>>& present;  ///< Ranks that run on this node.
  const std::vector<wire::RankInfo>& known;                        ///< All that ever ran on it, ascending.
  wire::Rank world_size = 0;
  bool may_inject = false;  ///< Delays and noise were allowed when the session was started.
  TraceShelf& traces;
};

/// Gives an operator's command to the ranks it names, all or none of them. Nothing is returned if it concerns only
/// ranks of other nodes, whose agents will answer; else the outcome, with one reason that names the rank if it is
/// refused.
std::optional<wire::Outcome> obey(const wire::Command& command, const Crew& crew, wire::Nanoseconds now);

}  // namespace idlewave::agent
