#pragma once
// Threads that make the runs of a sweep.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "workloads/sim/sweep/row.h"

namespace idlewave::sim::sweep {

/// Rows [first, first + count) of a sweep.
struct RowRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct FinishedRow {
  std::size_t number = 0;
  wire::Result<Row> row;
};

/// Threads take rows one by one, so that a long one keeps no core waiting; a row is a function of its settings alone.
/// `stop` ends the rows that are in work with what they have. Calls come from one thread.
class RowPool {
 public:
  /// `options` and `stop` outlive the pool.
  RowPool(const Options& options, int threads, const std::atomic<bool>& stop);
  ~RowPool();  ///< Waits for the rows in work; those that wait are left.

  void add(RowRange rows);
  bool has_idle_thread() const;  ///< For which no row waits.
  bool is_done() const;          ///< No row waits, is in work, or is to be taken.
  /// What has been finished since the last call; waits up to `patience` if that is nothing.
  std::vector<FinishedRow> take(std::chrono::milliseconds patience);

 private:
  void work();

  const Options& options_;
  const std::atomic<bool>& stop_;
  mutable std::mutex mutex_;
  std::condition_variable rows_wait_, row_finished_;
  std::deque<RowRange> waiting_;
  std::vector<FinishedRow> finished_;
  std::size_t in_work_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;  ///< Last: they end before what they use.
};

}  // namespace idlewave::sim::sweep
