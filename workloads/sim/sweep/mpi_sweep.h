#pragma once
// A sweep whose rows are shared out among MPI ranks.

#include <mpi.h>

#include <cstdint>

#include "workloads/sim/sweep/row_pool.h"
#include "workloads/sim/sweep/sweep.h"

namespace idlewave::sim::sweep {

/// Rank 0's part: gives rows to whoever has an idle thread, itself included, and collects what comes of them. Runs
/// differ in length, so a rank gets a share of what is left, smaller and smaller, at last one row. Only the thread that
/// made it calls MPI.
class Dealer {
 public:
  /// `threads_of_all`: of all ranks together, `threads` here.
  Dealer(MPI_Comm ranks, const Options& options, int threads, int threads_of_all);
  ~Dealer();  ///< Sends the helpers home.

  Rows run(std::size_t count);  ///< What is missing when interrupted stays empty.

 private:
  RowRange share(int threads);
  void answer_all();
  void answer(int helper);
  void receive_row(const MPI_Status& waiting);

  MPI_Comm ranks_;
  const Options& options_;
  int threads_, threads_of_all_, helpers_;
  std::size_t next_ = 0, count_ = 0, received_ = 0;
  Rows rows_;
};

/// The part of every other rank: returns when rank 0 has no more rows.
void help(MPI_Comm ranks, const Options& options, int threads);

}  // namespace idlewave::sim::sweep
