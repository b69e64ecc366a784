#pragma once
// What the engine of collective_run.h keeps of each rank. Times are in ticks (waiting_messages.h).

#include <algorithm>
#include <cstdint>

#include "workloads/sim/network/waiting_messages.h"

namespace idlewave::sim::network {

/// When a rank's network interface is free, either way.
template <bool kWaitedFor>
struct Interface {
  std::int64_t sending = 0;
  std::int64_t receiving = 0;

  std::int64_t free_to_send(std::int64_t cpu) const { return std::max(cpu, sending); }
  std::int64_t free_to_receive(std::int64_t cpu) const { return std::max(cpu, receiving); }
  void send_until(std::int64_t time) { sending = time; }
  void receive_until(std::int64_t time) { receiving = time; }
};

/// Where each message keeps the processor for as long as the interface, or longer: nobody waits for that.
template <>
struct Interface<false> {
  std::int64_t free_to_send(std::int64_t cpu) const { return cpu; }
  std::int64_t free_to_receive(std::int64_t cpu) const { return cpu; }
  void send_until(std::int64_t) {}
  void receive_until(std::int64_t) {}
};

/// The first half is what those who send look at.
template <class Message, bool kGaps>
struct alignas(64) RankStateOf {
  [[no_unique_address]] WaitingMessages<Message> messages;  ///< With room at its end for the next two.
  std::int8_t awaited = kNoLane;
  std::uint8_t pending = 0;

  alignas(64) std::int64_t cpu = 0;  ///< When it is free.
  [[no_unique_address]] Interface<kGaps> interface;
  std::int64_t created = 0;  ///< By what comes first of what is pending of the round; see CollectiveEngine::creation.
  std::int64_t work_created = 0;  ///< The same of kWork.
  std::int64_t post_time = 0;
  std::uint32_t arrived = 0;        ///< Lanes of which a message is there.
  std::uint32_t arrived_twice = 0;  ///< And another.
  std::uint32_t step = 0;
  std::uint32_t round = 0;
};
static_assert(sizeof(RankStateOf<WaitingMessage, true>) == 128);

}  // namespace idlewave::sim::network
