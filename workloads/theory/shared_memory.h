#pragma once
// Communication and computation that draw on the same memory interface, after J. Langguth and others on contention for
// memory bandwidth between the two, 2018 (langguth-2018). Seconds. Pure.

namespace idlewave::theory {

/// What a time step has to do, by how long each would take alone, and how many times as long it takes while the other
/// goes on (section III): at least 1. Both begin with the step.
struct ContendedStep {
  double memory = 0;        ///< T_M
  double network = 0;       ///< T_N
  double memory_loss = 1;   ///< L_M
  double network_loss = 1;  ///< L_N
};

/// T_tot of section IV: both are slow until the first is done, then the other goes on at full speed. Table II has it for
/// seven numbers of nodes, of memory_loss 1.104 and network_loss 2.28.
double step_time(const ContendedStep& step);

/// Section VI: of a step's work `cpu` would take that long alone on the processors and `accelerator` on the accelerators.
/// The share of the work for the latter that makes the step as short as possible: both are done at the same time, or 1
/// where the communication alone takes longer. Of `step` the memory time is not used: it is what is left of `cpu`.
double best_accelerator_share(double cpu, double accelerator, const ContendedStep& step);

}  // namespace idlewave::theory
