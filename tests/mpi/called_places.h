#pragma once
// Calls of a program as the finder of steps hears of them, and what it finds.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "probe/mpi/habits/step_finder.h"

namespace idlewave::mpi::habits {

using wire::Step;

inline constexpr int kNoIteration = -1;
inline constexpr int kIterations = 120, kUnknown = 24;  ///< The latter until it is believed, at most.

enum Function : std::uint16_t {
  kBarrier,
  kSendrecv,
  kRecv,
  kProbe,
  kSend,
  kAllreduce,
  kIrecv,
  kIsend,
  kWait,
  kWaitall,
  kWaitsome,
  kFileWrite
};

struct Called {
  CallSite site;
  bool starts = false;
  int iteration = kNoIteration;
  Peers peers = kNobody;
  wire::Nanoseconds work{};
};
using Calls = std::vector<Called>;

inline Called call(Function function, std::uintptr_t place, int iteration = kNoIteration, Peers peers = kNobody) {
  auto ends = CallSite::Ends::kNone;
  if (function == kWait || function == kWaitall) ends = CallSite::Ends::kRequests;
  if (function == kWaitsome) ends = CallSite::Ends::kSomeRequests;
  return {{place, 0x7000, CallSite::call_of(function, ends)},
          function == kIrecv || function == kIsend,
          iteration,
          peers,
          {}};
}

struct Seen {
  Step step;
  std::size_t call;  ///< With whose end it begins; of one that starts a request, before it.
  friend bool operator==(const Seen&, const Seen&) = default;
};

/// kShort: where the finder has a short way, by that, as in a rank.
enum class Way { kShort, kLong };

inline Step step_of(StepFinder& finder, const Called& called, Way way) {
  const auto& [address, starts, iteration, peers, work] = called;
  CallSite site = address;
  site.place = finder.place_of(address.place, address.frame);
  const bool is_short = way == Way::kShort;
  if (is_short && (starts ? finder.passes_start(peers) : finder.passes(site.place, peers))) return wire::kNoStep;
  const Step step = starts ? finder.start(site, peers) : finder.leave(site, peers, work);
  if (starts) finder.worked(work);
  return step;
}

inline std::vector<Seen> steps_of(const Calls& calls, Way way = Way::kShort) {
  StepFinder finder;
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Step step = step_of(finder, calls[i], way);
    if (step != wire::kNoStep) seen.push_back({step, i});
  }
  return seen;
}

/// The number of the step that begins behind what each iteration waits for; none has two.
inline std::map<int, Step> by_iteration(const Calls& calls) {
  std::map<int, Step> found;
  for (const Seen& seen : steps_of(calls)) {
    std::size_t behind = seen.call;
    while (calls[behind].starts) --behind;
    const int iteration = calls[behind].iteration;
    EXPECT_TRUE(found.emplace(iteration, seen.step).second) << "two steps in iteration " << iteration;
  }
  return found;
}

}  // namespace idlewave::mpi::habits
