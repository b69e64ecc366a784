#pragma once
// What the tests of links share: senders to listen to, a clock, and a look at what has arrived.

#include <gmock/gmock.h>

#include <chrono>

#include "monitor/link/link.h"
#include "probe/outlet/outlet.h"
#include "tests/outlet/keyring.h"
#include "tests/outlet/scratch.h"

namespace idlewave::link {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr const char* kSession = "water";

inline Nanoseconds clock_now() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::steady_clock::now() - start;
}

inline wire::Events events(std::uint64_t number, std::size_t bytes = 20) {
  return {Nanoseconds(number), std::vector<std::byte>(bytes, static_cast<std::byte>(number))};
}

inline wire::Roster roster_of(wire::Rank ranks) {
  wire::Roster roster;
  roster.world_size = ranks;
  return roster;
}

inline wire::Command a_delay(wire::CommandId id = 1) { return {id, {5}, wire::DelayOrder{milliseconds(250), 7}}; }

inline std::unique_ptr<outlet::Outlet> open_outlet(const outlet::Options& options) {
  auto outlet = outlet::Outlet::open(options);
  EXPECT_TRUE(outlet) << outlet.error().message;
  return std::move(*outlet);
}

inline std::unique_ptr<outlet::Outlet> outlet_at(const std::string& endpoint, std::uint64_t buffer_bytes = 64u << 20) {
  return open_outlet({.session = kSession, .node = "n1", .listen = endpoint, .buffer_bytes = buffer_bytes});
}

inline std::unique_ptr<Link> link_to(const LiveOptions& options) {
  auto link = open_live(options);
  EXPECT_TRUE(link) << link.error().message;
  return std::move(*link);
}

inline std::vector<wire::Frame> frames_of(std::span<const Delivery> deliveries) {
  std::vector<wire::Frame> frames;
  for (const Delivery& delivery : deliveries)
    if (auto frame = wire::decode(delivery.bytes)) frames.push_back(std::move(*frame));
  return frames;
}

/// Sequence numbers of what was received, in the order of arrival.
inline std::vector<std::uint64_t> numbers_of(std::span<const Delivery> deliveries) {
  std::vector<std::uint64_t> numbers;
  for (const wire::Frame& frame : frames_of(deliveries))
    if (wire::is_sequenced(frame)) numbers.push_back(frame.sequence);
  return numbers;
}

inline std::vector<std::uint64_t> up_to(std::uint64_t last) {
  std::vector<std::uint64_t> numbers(last);
  for (std::uint64_t i = 0; i < last; ++i) numbers[i] = i + 1;
  return numbers;
}

}  // namespace idlewave::link
