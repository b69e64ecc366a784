#include "workloads/sim/sweep/row_pool.h"

#include <system_error>
#include <utility>

#include "probe/wire/last_words.h"

namespace idlewave::sim::sweep {
namespace {

/// An exception may not leave a thread.
wire::Result<Row> row_or_why_not(const Options& options, std::size_t number, const std::atomic<bool>& stop) {
  try {
    return run_row(options, number, stop);
  } catch (...) {
    return wire::Error{wire::last_words()};
  }
}

}  // namespace

RowPool::RowPool(const Options& options, int threads, const std::atomic<bool>& stop) : options_(options), stop_(stop) {
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;  // with fewer threads than wanted it takes longer
  }
}

RowPool::~RowPool() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  rows_wait_.notify_all();
}

void RowPool::add(RowRange rows) {
  if (rows.count == 0) return;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(rows);
  }
  rows_wait_.notify_all();
}

bool RowPool::has_idle_thread() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && in_work_ < threads_.size();
}

bool RowPool::is_done() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && in_work_ == 0 && finished_.empty();
}

std::vector<FinishedRow> RowPool::take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  row_finished_.wait_for(lock, patience, [this] { return !finished_.empty(); });
  return std::exchange(finished_, {});
}

void RowPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    rows_wait_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (closed_) return;
    RowRange& rows = waiting_.front();
    const std::size_t number = rows.first++;
    if (--rows.count == 0) waiting_.pop_front();
    ++in_work_;
    lock.unlock();
    auto row = row_or_why_not(options_, number, stop_);
    lock.lock();
    --in_work_;
    finished_.push_back({number, std::move(row)});
    row_finished_.notify_one();
  }
}

}  // namespace idlewave::sim::sweep
