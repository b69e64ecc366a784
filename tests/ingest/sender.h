#pragma once
// One sender's stream.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "probe/wire/codec.h"
#include "tests/timeline/builders.h"

namespace idlewave::ingest {

using timeline::enter;
using timeline::ms;
using timeline::rank_lane;
using timeline::roster;
using wire::Event;
using wire::Phase;
using wire::Rank;

using Bytes = std::vector<std::byte>;
using Batches = std::vector<std::pair<wire::LaneId, std::vector<Event>>>;

/// One sender's stream, numbered as an outlet numbers it.
class Sender {
 public:
  explicit Sender(std::string node = "n", std::string session = "s")
      : node_(std::move(node)), session_(std::move(session)) {}

  Bytes frame(decltype(wire::Frame::body) body) {
    return wire::encode({session_, node_, ++sequence_, std::move(body)});
  }
  Bytes events(const Batches& batches, Nanoseconds up_to) {
    std::vector<wire::LaneBatch> borrowed;
    for (const auto& [lane, events] : batches) borrowed.push_back({lane, events});
    wire::Events body{up_to, {}};
    wire::encode_events(borrowed, body.blob);
    return frame(std::move(body));
  }
  Bytes threads(const Batches& batches, Nanoseconds up_to) { return apart(batches, &wire::Events::threads, up_to); }
  Bytes meters(const Batches& batches, Nanoseconds up_to) { return apart(batches, &wire::Events::meters, up_to); }
  Bytes computes(Rank rank, Nanoseconds from, Nanoseconds up_to) {
    return events({{rank_lane(rank), {enter(from, Phase::kCompute)}}}, up_to);
  }
  void lose(std::uint64_t frames) { sequence_ += frames; }
  void begin_again() { sequence_ = 0; }

 private:
  Bytes apart(const Batches& batches, Bytes wire::Events::*where, Nanoseconds up_to) {
    std::vector<wire::LaneBatch> borrowed;
    for (const auto& [lane, events] : batches) borrowed.push_back({lane, events});
    wire::Events body{up_to, {}};
    wire::encode_events({}, body.blob);
    wire::encode_events(borrowed, body.*where);
    return frame(std::move(body));
  }

  std::string node_;
  std::string session_;
  std::uint64_t sequence_ = 0;
};

/// Frames of a small session.
inline std::vector<Bytes> some_frames() {
  Sender sender;
  std::vector<Bytes> frames{sender.frame(roster(4))};
  for (int i = 0; i < 20; ++i) frames.push_back(sender.computes(Rank(i % 4), ms(i), ms(i + 1)));
  frames.push_back(sender.frame(wire::Outcome{{3, {1}, wire::NoiseOrder{}}, ms(3), true, ""}));
  frames.push_back(sender.frame(wire::End{}));
  return frames;
}

}  // namespace idlewave::ingest
