#pragma once
// What the ranks of a simulated program would tell.

#include "monitor/timeline/timeline.h"
#include "tests/workloads/exact_run.h"

namespace idlewave::test {

/// What ranks say of what holds them; of the rest they compute longer and don't know why. Delays by their phase alone: as a
/// program tells them that holds itself.
enum class Holds { kAnnounced, kDelaysAnnounced, kDelaysByPhase, kUnannounced };

struct Told {
  Holds holds = Holds::kAnnounced;
  bool partners = false;
};

/// Of the ranks of one node.
timeline::Timeline timeline_of(const tests::ExactProgram& program, const tests::ExactRun& run, Told told = {});

/// When the rank had waited for the last time in that step.
double end_of(const tests::ExactRun& run, wire::Rank rank, int step);

}  // namespace idlewave::test
