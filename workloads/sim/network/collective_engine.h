#pragma once
// The engines of programs of collectives.

#include <cstdint>
#include <memory>

#include "probe/wire/result.h"
#include "workloads/sim/network/collective_program.h"
#include "workloads/sim/network/costs.h"

namespace idlewave::sim::network {

/// A run that goes as far as it is told to. One thread.
class CollectiveEngine {
 public:
  virtual ~CollectiveEngine() = default;
  /// Everything up to and including that moment, nanoseconds, and perhaps some of what comes later. The recorder hears
  /// of all up to it in the end, by Recorder::nothing_before.
  virtual void advance_until(std::int64_t time) = 0;
  virtual bool finished() const = 0;  ///< Nothing can happen any more.
  virtual bool is_too_long() const = 0;
  virtual CollectiveRun take_run() = 0;  ///< Once.
};

/// The engine for a program. Error: as run() of collective_run.h, but for a run that is too long.
wire::Result<std::unique_ptr<CollectiveEngine>> make_engine(const CollectiveProgram& program,
                                                            const support::LogGops& network,
                                                            const CollectiveOptions& options);

/// What is wrong with a run that is too long.
wire::Error too_long_collectives();

/// Ranks are independent until whatever any of them may send next can arrive, and are visited one after another up to
/// there. For messages that are sent eagerly and take time: o + L > 0.
std::unique_ptr<CollectiveEngine> make_windowed(const CollectiveProgram& program, const Costs& costs,
                                                const CollectiveOptions& options);

/// All in the order of time. For rendezvous, in which a receiver acts on its sender at once, and for o + L = 0.
std::unique_ptr<CollectiveEngine> make_ordered(const CollectiveProgram& program, const Costs& costs,
                                               const CollectiveOptions& options);

}  // namespace idlewave::sim::network
