#pragma once
// How ranks that wait sleep and are woken, where there are more ranks than cores: MPI itself waits by polling, and
// dozens of polling ranks would take the cores from the few that have something to do.

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/support/shared_memory.h"

namespace idlewave::ring {

/// One bell for each rank of a node. A bell only says "look again": messages go through MPI, and a bell that is missed
/// costs the timeout. Lock-free; used by one thread of each process.
class Doorbells {
 public:
  static wire::Result<Doorbells> create(int bells);
  static wire::Result<Doorbells> open(pid_t owner, int descriptor);
  int descriptor() const { return memory_.descriptor(); }

  void ring(int bell);

  /// How often that bell has been rung; to be read before looking whether there is anything to wait for.
  std::uint32_t rung(int bell) const;

  /// Sleeps until the bell has been rung more often than `seen` times, or the timeout.
  void wait(int bell, std::uint32_t seen, wire::Nanoseconds timeout);

 private:
  struct Bell;
  explicit Doorbells(support::SharedMemory memory) : memory_(std::move(memory)) {}
  Bell& at(int bell) const;

  support::SharedMemory memory_;
};

}  // namespace idlewave::ring
