#pragma once
// Events in a binary heap, the first at hand.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "workloads/sim/network/network_event.h"

namespace idlewave::sim::network {

class EventHeap {
 public:
  bool empty() const { return events_.empty(); }
  std::size_t size() const { return events_.size(); }
  const NetworkEvent& first() const { return events_.front(); }

  void push(const NetworkEvent& event) {
    events_.push_back(event);
    std::push_heap(events_.begin(), events_.end(), follows);
  }

  NetworkEvent pop() {
    std::pop_heap(events_.begin(), events_.end(), follows);
    const NetworkEvent event = events_.back();
    events_.pop_back();
    return event;
  }

 private:
  static bool follows(const NetworkEvent& a, const NetworkEvent& b) { return b < a; }

  std::vector<NetworkEvent> events_;
};

}  // namespace idlewave::sim::network
