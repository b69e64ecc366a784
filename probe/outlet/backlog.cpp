#include "probe/outlet/backlog.h"

namespace idlewave::outlet {

void Backlog::append(std::vector<std::byte> frame) {
  bytes_ += frame.size();
  frames_.push_back(std::move(frame));
  while (bytes_ > budget_ && frames_.size() > 1) drop_oldest();
}

void Backlog::drop_below(std::uint64_t sequence) {
  while (first_ < sequence && !frames_.empty()) drop_oldest();
}

void Backlog::drop_oldest() {
  if (forgets_) forgets_(frames_.front());
  bytes_ -= frames_.front().size();
  frames_.pop_front();
  ++first_;
}

}  // namespace idlewave::outlet
