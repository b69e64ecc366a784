#pragma once

#include <cstdint>

#include "probe/shm/call_book.h"

namespace idlewave::client {

/// The writing end of a rank's book of calls. One thread; no allocation.
class CallCounter {
 public:
  static constexpr std::int64_t kUnknownBytes = -1;

  /// Goes on in a book that is empty, or was before attach.
  void attach(shm::CallBook& book);

  /// The place of a function that has none yet; null if the book is full.
  shm::CallBook::Function* add_function(const char* name);

  static void count_call(shm::CallBook::Function& function, std::int64_t bytes) {
    add(function.calls, 1);
    bytes < 0 ? add(function.unsized, 1) : add(function.bytes, static_cast<std::uint64_t>(bytes));
  }
  static void count_time(shm::CallBook::Function& function, std::int64_t time_ns) {
    function.time_ns.store(function.time_ns.load(kRelaxed) + time_ns, kRelaxed);
    if (time_ns > function.longest_ns.load(kRelaxed)) [[unlikely]]
      function.longest_ns.store(time_ns, kRelaxed);
  }

  /// A message to `receiver`; one below 0 is not a rank of the program.
  void count_message(wire::Rank receiver, std::int64_t bytes) {
    shm::CallBook::Pair& pair = book_->pair[shm::CallBook::home_of(receiver)];
    const bool is_it = receiver >= 0 && pair.taken_by.load(kRelaxed) == receiver + 1;
    is_it ? add_message(pair.messages, pair.bytes, bytes) : search_and_count_message(receiver, bytes);
  }

 private:
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

  static void add(std::atomic<std::uint64_t>& sum, std::uint64_t more) {
    sum.store(sum.load(kRelaxed) + more, kRelaxed);
  }
  static void add_message(std::atomic<std::uint64_t>& messages, std::atomic<std::uint64_t>& sum, std::int64_t bytes) {
    add(messages, 1);
    if (bytes > 0) add(sum, static_cast<std::uint64_t>(bytes));
  }
  void search_and_count_message(wire::Rank receiver, std::int64_t bytes);
  void count_first_message(shm::CallBook::Pair& pair, wire::Rank receiver, std::int64_t bytes);

  shm::CallBook* book_ = nullptr;
  std::uint32_t pairs_ = 0;
};

/// A message that another thread has sent than the one that counts; on any thread, none of which waits for another.
void count_message_of_thread(shm::CallBook& book, wire::Rank receiver, std::int64_t bytes);

}  // namespace idlewave::client
