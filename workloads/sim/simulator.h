#pragma once
// The simulator: a scenario goes in; what it needs, its model and its run come out, whichever engine is made for it.

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/contention/simulation.h"
#include "workloads/sim/core/model.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"
#include "workloads/sim/core/run.h"
#include "workloads/sim/core/wait_table.h"
#include "workloads/sim/network/simulation.h"
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
/// Whether delays and noise may be ordered while it runs.
bool takes_orders(const support::Scenario& scenario);

/// Ranks, domains and work, whatever the communication; as a session tells it. Error: what the engine refuses.
wire::Result<core::Model> model_of(const support::Scenario& scenario);

/// Whom the ranks of a scenario wait for, as ranks of a real program would say it. `model` is that of the scenario.
core::WaitTable waits_of(const support::Scenario& scenario, const core::Model& model);

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

/// A run that goes as far as it is told to, and tells its recorder what ranks do in the order of time of all of them, as
/// an Emitter needs it. Of a scenario on contention domains operators may order delays and noise meanwhile. One thread.
class Simulation {
 public:
  /// `prepared` and `recorder` outlive it. `stop`, if given, ends every advance_until() early. Error: what the engine
  /// refuses.
  static wire::Result<Simulation> create(const Prepared& prepared, core::Recorder& recorder,
                                         const std::atomic<bool>* stop = nullptr);

  /// Of a run on a network that no scenario describes: a schedule's.
  static Simulation of(std::unique_ptr<network::Simulation> run) { return Simulation{std::move(run), nullptr}; }

  /// Everything up to and including that moment, seconds; in whatever slices, the same run. Error: on a network, that
  /// noise makes the run too long.
  wire::Status advance_until(double time);
  bool finished() const;
  double time() const;  ///< Of the last thing that was told.
  bool takes_orders() const;

  /// As those of contention::Simulation. Error: also that the run is on a network, which takes no orders.
  wire::Result<wire::Step> step_of_delay(wire::Rank rank, std::optional<wire::Step> step) const;
  wire::Result<wire::Step> order_delay(wire::Rank rank, std::optional<wire::Step> step, support::Nanoseconds duration,
                                       wire::CommandId command = 0);
  wire::Status set_noise(std::shared_ptr<const core::PhaseNoise> noise);
  std::size_t take_back_delays(wire::Rank rank);
  contention::OrderedHolds ordered_holds(wire::Rank rank) const;

 private:
  using OnNetwork = std::unique_ptr<network::Simulation>;
  Simulation(std::variant<contention::Simulation, OnNetwork> run, const std::atomic<bool>* stop)
      : run_(std::move(run)), stop_(stop) {}

  std::variant<contention::Simulation, OnNetwork> run_;
  const std::atomic<bool>* stop_;
};

struct Played {
  double until = 0;   ///< Seconds of simulated time.
  bool whole = true;  ///< False: `stop` ended it.
};

/// All of a Simulation. `stop` may be null.
wire::Result<Played> play(const Prepared& prepared, core::Recorder& recorder, const std::atomic<bool>* stop);

}  // namespace idlewave::sim
