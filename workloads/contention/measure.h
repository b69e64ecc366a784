#pragma once
// Communication and computation that move memory at the same time.

#include <mpi.h>

#include <optional>
#include <vector>

#include "workloads/contention/options.h"
#include "workloads/ranks/domain.h"

namespace idlewave::contention {

/// Bytes per second of a domain, means over all domains.
struct Point {
  int contenders = 0;        ///< Ranks of each domain that run the triad.
  double communication = 0;  ///< Sent by the domain's rank of the ring while they do.
  double memory = 0;         ///< Moved by the contenders while the ring turns; 0 without any who got a core then.
  double memory_alone = 0;   ///< The same while nobody communicates.
};

/// langguth-2018, section III: bandwidth without contention over that with as many contenders as there are. Their ratio
/// is above 1 where it is lost.
struct Losses {
  double network = 0;            ///< L_N
  std::optional<double> memory;  ///< L_M; nothing where no contender got a core in the time of a measurement.
};

/// Of points with a last one that has contenders.
Losses losses_of(const std::vector<Point>& points);

/// Seconds of a time step in which all contenders of a domain move `volume` together and its rank of the ring sends a
/// message, and then all wait for each other; langguth-2018, Table II. Without these waits, so that nothing is known where
/// they take more than half of the step: there is too little work, or other load keeps the ranks waiting.
struct StepTimes {
  std::uint64_t volume = 0;
  std::optional<double> memory;   ///< T_M: without the message.
  std::optional<double> network;  ///< T_N: without the triad.
  std::optional<double> both;     ///< T_tot
};

/// T_tot by section IV. A loss below 1, which is the noise of a measurement, counts as none. Nothing where memory's, T_M or
/// T_N is not known.
std::optional<double> modelled(const StepTimes& step, const Losses& losses);

struct Measured {
  std::vector<Point> points;
  std::vector<StepTimes> steps;  ///< Without contenders none.
};

/// Bytes of memory that one rank of a domain takes, of whose node these are the ranks.
std::uint64_t memory_of(const Options& options, const ranks::Group& node, const ranks::Domain& domain);

/// Points: one for each number of contenders, from none to all of the smallest domain but the one that communicates; the
/// same on all ranks. `domains`: how many there are on all nodes. Nothing after a failure, which has been reported: no
/// memory, or a message that came otherwise than it was sent. Collective.
std::optional<Measured> measure(const Options& options, MPI_Comm ranks, const ranks::Group& node,
                                const ranks::Domain& domain, int domains);

}  // namespace idlewave::contention
