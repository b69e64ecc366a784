#include "probe/client/call_counter.h"

#include <string.h>

namespace idlewave::client {

void CallCounter::attach(shm::CallBook& book) {
  book_ = &book;
  pairs_ = 0;
}

shm::CallBook::Function* CallCounter::add_function(const char* name) {
  const std::uint32_t place = book_->functions.load(kRelaxed);
  if (place >= shm::kCallFunctions) return nullptr;
  shm::CallBook::Function& function = book_->function[place];
  strncpy(function.name, name, shm::kCallNameLimit - 1);
  book_->functions.store(place + 1, std::memory_order_release);
  return &function;
}

void CallCounter::search_and_count_message(wire::Rank receiver, std::int64_t bytes) {
  std::uint32_t place = shm::CallBook::home_of(receiver);
  // Bounded, whatever somebody else may have written there.
  for (std::uint32_t looks = 0; receiver >= 0 && looks < shm::kCallPairs; ++looks) {
    shm::CallBook::Pair& pair = book_->pair[place];
    const std::int32_t taken_by = pair.taken_by.load(kRelaxed);
    if (taken_by == receiver + 1) return add_message(pair.messages, pair.bytes, bytes);
    if (taken_by == 0) return count_first_message(pair, receiver, bytes);
    place = (place + 1) % shm::kCallPairs;
  }
  add_message(book_->other_messages, book_->other_bytes, bytes);
}

void CallCounter::count_first_message(shm::CallBook::Pair& pair, wire::Rank receiver, std::int64_t bytes) {
  if (pairs_ == shm::kCallPairsUsed) return add_message(book_->other_messages, book_->other_bytes, bytes);
  ++pairs_;
  add_message(pair.messages, pair.bytes, bytes);
  pair.taken_by.store(receiver + 1, std::memory_order_release);
}

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

void add_message(std::atomic<std::uint64_t>& messages, std::atomic<std::uint64_t>& sum, std::int64_t bytes) {
  if (bytes > 0) sum.fetch_add(static_cast<std::uint64_t>(bytes), kRelaxed);
  messages.fetch_add(1, kRelaxed);
}

/// Whether the place is that receiver's, or is so from now on.
bool is_taken_for(shm::CallBook::Pair& pair, wire::Rank receiver) {
  std::int32_t taken_by = pair.taken_by.load(kRelaxed);
  if (taken_by == 0) pair.taken_by.compare_exchange_strong(taken_by, receiver + 1);
  return taken_by == 0 || taken_by == receiver + 1;
}

/// Null: there is no room.
shm::CallBook::Pair* place_for(shm::CallBook& book, wire::Rank receiver) {
  std::uint32_t place = shm::CallBook::home_of(receiver) % shm::kThreadPairs;
  for (std::uint32_t looks = 0; receiver >= 0 && looks < shm::kThreadPairLooks; ++looks) {
    if (is_taken_for(book.pair_by_threads[place], receiver)) return &book.pair_by_threads[place];
    place = (place + 1) % shm::kThreadPairs;
  }
  return nullptr;
}

}  // namespace

void count_message_of_thread(shm::CallBook& book, wire::Rank receiver, std::int64_t bytes) {
  if (shm::CallBook::Pair* const pair = place_for(book, receiver))
    return add_message(pair->messages, pair->bytes, bytes);
  add_message(book.other_messages_by_threads, book.other_bytes_by_threads, bytes);
}

}  // namespace idlewave::client
