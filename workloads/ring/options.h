#pragma once
// What iw-ring can be asked to do.

#include <cstdint>
#include <optional>
#include <vector>

#include "probe/wire/vocabulary.h"
#include "probe/words/window.h"
#include "workloads/ranks/modes.h"
#include "workloads/support/noise_trace.h"
#include "workloads/support/scenario.h"

namespace idlewave::ring {

using support::Delay;
using support::Kernel;
using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using wire::Nanoseconds;
using wire::Rank;
using wire::Step;

/// For messages; asleep until a neighbour says that it has done something.
using ranks::Waiting;

struct Options {
  Kernel kernel = Kernel::kMemory;  ///< A model is played on virtual sockets.
  std::uint64_t volume = 0;         ///< Bytes per rank and step; 0: the work is core-bound and lasts `time`.
  Nanoseconds time{};               ///< Per step, if core-bound.
  Step steps = 0;                   ///< 0: no limit.
  std::optional<Nanoseconds> duration;
  Step warm_up = 2;
  int threads = 1;  ///< Of a rank, which share out its work; one of them calls MPI.

  int ranks_per_domain = 10;       ///< These five: models only.
  std::vector<int> series;         ///< Several numbers of them, a run of each; empty: one run.
  double core_bandwidth = 10e9;    ///< bytes/s
  double domain_bandwidth = 50e9;  ///< bytes/s
  std::vector<double> curve;       ///< b(1), b(2), ..., if given; the two before are its first and its largest then.
  bool pin = true;                 ///< All but models.

  Topology topology = Topology::kRing;
  std::vector<Rank> distances = {-1, 1};
  int message_size = 1000;  ///< Bytes.
  Protocol protocol = Protocol::kAuto;
  WaitFlavour wait = WaitFlavour::kAll;
  Waiting waiting = Waiting::kAuto;

  std::vector<Delay> delays;
  support::Noise noise;             ///< Drawn by (seed, rank, step), as the simulator does.
  support::NoiseTrace noise_trace;  ///< That of a TraceNoise.

  bool json = false;
  words::Fractions window;  ///< Of the makespan.
};

/// Ranks of a job that take part where so many of each domain do: the first ones of each. A domain has room for the
/// largest number of the series.
Rank ranks_of_run(const Options& options, Rank job, int ranks_per_domain);
bool takes_part(const Options& options, Rank rank, int ranks_per_domain);
int seats_of(const Options& options);

}  // namespace idlewave::ring
