#pragma once
// Events to bytes and back: the blob inside an Events frame. Columns (lane table, tags, values, time differences), so
// that a general compressor finds them alike; every blob stands alone. See docs/wire-format.md.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::wire {

/// Events of one lane in order of time. `events` is borrowed.
struct LaneBatch {
  LaneId lane;
  std::span<const Event> events;
};

class ByteReader;

/// Appends the encoding of `batches` to `out`. Lanes may repeat. Their index may not be negative, and times within a
/// batch may not decrease.
void encode_events(std::span<const LaneBatch> batches, std::vector<std::byte>& out);

/// Decodes whole blobs into memory that it keeps between calls. One thread.
class EventDecoder {
 public:
  /// The batches stay valid until the next call. Damaged input gives an error and no batches; never reads outside
  /// `blob`, never allocates more than a small multiple of its size.
  Result<std::span<const LaneBatch>> decode(std::span<const std::byte> blob);

 private:
  bool take_lane_names(ByteReader& in, std::uint64_t lanes);

  std::vector<std::byte> padded_;  // A copy of the blob with room behind it, so that whole words can be read anywhere.
  std::vector<Event> events_;
  std::vector<LaneBatch> batches_;
};

}  // namespace idlewave::wire
