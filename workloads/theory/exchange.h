#pragma once
// Messages between nodes of several processes, after R. Rabenseifner's lecture on hybrid programming, 2007
// (rabenseifner-2007), slides "Orthogonal parallel communication" and "Multiple inter-node communication paths". Seconds,
// bytes per second. Pure.

namespace idlewave::theory {

/// What the lecture's figures of a machine come down to: all processes of a node share its way to the others, and one of
/// them alone does not fill it.
struct NodeNetwork {
  double process = 0;  ///< To other nodes, by a process that communicates alone.
  double node = 0;     ///< The same, by all processes of a node together, at most.
  double memory = 0;   ///< Of a process to another one of its node.
  double latency = 0;  ///< Of a message.
};

/// That of the Hitachi SR8000: 8 processes send 1 MB each to the next node in 9.6 ms, one of them all 8 MB in 19.2 ms;
/// within the node they send in 2.0 ms; and both ways are equally fast at 32 kB (slide "Results of the experiment").
NodeNetwork sr8000();

/// `communicating` of a node's `processes` send what each of these has for the next node, `bytes`.
double vertical_time(const NodeNetwork& network, int processes, int communicating, double bytes);

/// Each process sends `bytes` to the next one of its node.
double horizontal_time(const NodeNetwork& network, double bytes);

/// Pure MPI does both; masteronly the first with one process, for what threads share they need not send each other.
double pure_mpi_time(const NodeNetwork& network, int processes, double bytes);
double masteronly_time(const NodeNetwork& network, int processes, double bytes);

}  // namespace idlewave::theory
