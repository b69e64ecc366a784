#pragma once
// A run on a LogGOPS network that goes as far as it is told to.

#include <cstdint>

#include "probe/wire/result.h"

namespace idlewave::sim::network {

/// Tells its recorder what ranks do, in the order of time of all of them. One thread.
class Simulation {
 public:
  virtual ~Simulation() = default;
  /// Everything up to that moment, seconds. Error: noise makes the run too long.
  virtual wire::Status advance_until(double time) = 0;
  virtual bool finished() const = 0;  ///< All has happened and is told.
  virtual double time() const = 0;    ///< Of the last thing that was told.
};

/// The whole nanoseconds that have passed by then; as many as there can be for what is later than that.
std::int64_t whole_ns(double seconds);

}  // namespace idlewave::sim::network
