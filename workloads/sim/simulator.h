#pragma once
// The simulator: a scenario goes in; what it needs, its model and its run come out, whichever engine is made for it.

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/core/model.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"
#include "workloads/sim/core/run.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim {

/// A scenario with its noise. Immutable; any thread.
struct Prepared {
  support::Scenario scenario;
  std::shared_ptr<const core::PhaseNoise> noise;  ///< Null: silent.
};

/// `folder`: where a noise trace with a relative path lies.
wire::Result<Prepared> prepare(support::Scenario scenario, const std::filesystem::path& folder);

/// Of a scenario file, with `key=value` settings, the later ones of the same key.
wire::Result<Prepared> prepare(const std::filesystem::path& file, const std::vector<std::string>& settings);

/// Contention domains; a LogGOPS network, with memory domains; or, faster, collectives of core-bound ranks.
enum class Engine { kContention, kNetwork, kCollectives };
Engine engine_of(const support::Scenario& scenario);

/// Ranks, domains and work, whatever the communication; as a session tells it. Error: what the engine refuses.
wire::Result<core::Model> model_of(const support::Scenario& scenario);

/// Memory that a run takes. Error: as run().
wire::Result<std::size_t> bytes_needed(const support::Scenario& scenario, const core::RunOptions& options);

/// Fails if that is more than there is in the machine, or than this process may use. Error: also as run().
wire::Status check_memory(const support::Scenario& scenario, const core::RunOptions& options);

/// All that run() and play() would refuse, before anything is told or opened.
wire::Status check(const support::Scenario& scenario, const core::RunOptions& options);

/// From beginning to end, as fast as it goes. The same scenario and noise give the same run to the last bit. A recorder
/// is called in the order of time for each rank, not of all ranks together: see play(). Averages of active ranks are
/// not taken of collectives: see active_means().
wire::Result<core::Run> run(const support::Scenario& scenario, const core::RunOptions& options);

/// Run::active_means of a run that was made without them, by running once more; none if `stop` ends that.
wire::Result<std::vector<double>> active_means(const Prepared& prepared, const core::Run& run, core::Fractions window,
                                               const std::atomic<bool>* stop);

struct Played {
  double until = 0;   ///< Seconds of simulated time.
  bool whole = true;  ///< False: `stop` ended it.
};

/// All of the run, told in the order of time of all ranks together, as an Emitter needs it. `stop` may be null.
wire::Result<Played> play(const Prepared& prepared, core::Recorder& recorder, const std::atomic<bool>* stop);

/// Before play(). Error: what the engine refuses, or a run of which more would have to be kept than is reasonable.
wire::Status check_play(const support::Scenario& scenario);

}  // namespace idlewave::sim
