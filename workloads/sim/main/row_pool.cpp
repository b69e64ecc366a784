#include "workloads/sim/main/row_pool.h"

#include <utility>

namespace idlewave::sim {

RowPool::RowPool(const Options& options, int threads) : options_(options) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
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
    auto row = run_row(options_, number);
    lock.lock();
    --in_work_;
    finished_.push_back({number, std::move(row)});
    row_finished_.notify_one();
  }
}

}  // namespace idlewave::sim
