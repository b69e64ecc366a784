#include "probe/client/call_counter.h"

#include <string.h>

namespace idlewave::client {

void CallCounter::attach(shm::CallBook& book) {
  book_ = &book;
  pairs_ = 0;
}

std::uint32_t CallCounter::add_function(const char* name) {
  const std::uint32_t place = book_->functions.load(kRelaxed);
  if (place >= shm::kCallFunctions) return kNoPlace;
  strncpy(book_->function[place].name, name, shm::kCallNameLimit - 1);
  book_->functions.store(place + 1, std::memory_order_release);
  return place;
}

void CallCounter::count_first_message(shm::CallBook::Pair& pair, wire::Rank receiver, std::int64_t bytes) {
  if (pairs_ == shm::kCallPairsUsed) return add_message(book_->other_messages, book_->other_bytes, bytes);
  ++pairs_;
  add_message(pair.messages, pair.bytes, bytes);
  pair.taken_by.store(receiver + 1, std::memory_order_release);
}

}  // namespace idlewave::client
