#include "probe/agent/order_queue.h"

#include <algorithm>

namespace idlewave::agent {

void OrderQueue::add(const shm::Delay& delay) {
  const auto later = [](const shm::Delay& a, const shm::Delay& b) { return a.at_step < b.at_step; };
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), delay, later), delay);
}

void OrderQueue::pump(shm::Slot& slot) {
  if (waiting_.empty()) return;
  if (armed_ && waiting_.front().at_step < armed_->at_step && shm::disarm_delay(slot)) {
    const shm::Delay postponed = *armed_;
    armed_.reset();
    add(postponed);
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
