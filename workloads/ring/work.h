#pragma once
// The work of one rank in one step.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/kernels/virtual_socket.h"
#include "workloads/ranks/domain.h"
#include "workloads/ring/options.h"

namespace idlewave::ring {

using wire::Nanoseconds;

/// Bytes per second of a contention domain; 0: not known.
struct Bandwidths {
  double core = 0;                 ///< b(1)
  double saturated = 0;            ///< b(all ranks that run on it)
  std::vector<double> curve = {};  ///< b(1), b(2), ..., if more is known.
};

struct Work {
  ranks::Domain domain;
  /// Takes the moment since which this rank was ready, gives that when its work was done. On real cores the latter is
  /// now; on virtual ones neither has what the machine below was late by.
  std::function<Nanoseconds(Nanoseconds ready)> do_step;
  std::uint64_t traffic = 0;  ///< Bytes that a step moves; 0: core-bound.
  Bandwidths bandwidths;
  std::shared_ptr<kernels::VirtualSocket> socket;  ///< Null unless the work moves bytes on a virtual socket.
  Nanoseconds most_late{};                         ///< A rank later than that was held up by more than the machine.
};

/// Of a virtual socket on which so many ranks work; nothing is known where the work moves no bytes.
Bandwidths of_virtual_socket(const Options& options, int ranks);

/// Bytes of memory that the work of one rank takes, of whose node these are the ranks.
std::size_t memory_of_work(const Options& options, const ranks::Group& node);

/// Gets ready what `options.kernel` needs: pins, allocates, calibrates, measures. Collective over `ranks`; an Error on
/// any rank is reported by that rank, and then every rank gets nothing.
std::optional<Work> prepare_work(const Options& options, MPI_Comm ranks, const ranks::Group& node);

}  // namespace idlewave::ring
