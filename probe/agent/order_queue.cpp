#include "probe/agent/order_queue.h"

#include <algorithm>

namespace idlewave::agent {

namespace {

bool is_before(const shm::Delay& a, const shm::Delay& b) { return a.is_before(b); }

}  // namespace

void OrderQueue::add(const shm::Delay& delay) {
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), delay, is_before), delay);
}

void OrderQueue::pump(shm::Slot& slot) {
  if (waiting_.empty()) return;
  if (armed_ && is_before(waiting_.front(), *armed_) && shm::disarm_delay(slot)) {
    // Ahead of those for the same step: it came first.
    waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), *armed_, is_before), *armed_);
    armed_.reset();
  }
  if (!shm::arm_delay(slot, waiting_.front())) return;
  armed_ = waiting_.front();
  waiting_.erase(waiting_.begin());
}

void OrderQueue::clear(shm::Slot& slot) {
  waiting_.clear();
  if (shm::withdraw_delay(slot)) armed_.reset();
}

wire::Nanoseconds OrderQueue::outstanding(const shm::Slot& slot) const {
  std::int64_t sum = armed_ && shm::has_delay(slot) ? armed_->duration_ns : 0;
  for (const shm::Delay& delay : waiting_) sum += delay.duration_ns;
  return wire::Nanoseconds(sum);
}

}  // namespace idlewave::agent
