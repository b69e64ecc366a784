#pragma once
// What the ranks of a recorded session did, step by step.

#include <string>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::sim {

using wire::Rank;
using wire::Step;

/// Seconds since the first step of the session began.
struct StepTimes {
  double begin = 0;
  double held = 0;     ///< By delays (not by noise), all told.
  double post = 0;     ///< When it went to wait for its partners.
  double traffic = 0;  ///< Bytes that it declared to move in this step.
  double end = 0;      ///< When the wait was over: the next step's begin, or the rank's stop.
  bool whole = false;  ///< All of it was recorded.
};

struct SessionHistory {
  std::string program;
  std::vector<wire::DomainInfo> domains;      ///< Of the last roster.
  std::vector<int> domain_of;                 ///< By rank: index into domains; -1: not known.
  std::vector<std::vector<StepTimes>> ranks;  ///< [rank][step]; the first step that is taken is 0.
  std::vector<double> bytes;                  ///< By domain: moved in all, as measured or modelled.
  std::vector<std::string> left_out;          ///< What could not be read or is not taken, a line each.

  std::size_t steps() const { return ranks.empty() ? 0 : ranks.front().size(); }
};

/// Takes the longest run of steps that are whole on all ranks, however they are numbered, and says in `left_out` what
/// else there is. Error: one line; also for sessions of several nodes, whose clocks differ.
wire::Result<SessionHistory> read_history(const std::string& path);

}  // namespace idlewave::sim
