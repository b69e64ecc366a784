#pragma once
// The recording container: frames byte for byte with their time of receipt, in independent compressed blocks with
// checksums, an index at the end, readable without it. See docs/recording-format.md. The one place that knows a session
// file's bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::wire {

inline constexpr int kFrameLogVersion = 2;
inline constexpr int kOldestFrameLogVersion = 1;  ///< That is read; the container is the same, its frames are older.

struct FrameLogHeader {
  std::string program_version;  ///< Of idlewave.
  std::string session;
  std::string machine;            ///< Host name, processor.
  std::string command_line;       ///< Of the monitor that recorded.
  std::int64_t unix_time_ns = 0;  ///< Wall clock at received_at = 0.
  friend bool operator==(const FrameLogHeader&, const FrameLogHeader&) = default;
};

enum class Direction : std::uint8_t { kReceived = 0, kSent = 1 };

struct FrameLogEntry {
  Nanoseconds received_at{};  ///< Monitor's clock since the start of the recording.
  Direction direction = Direction::kReceived;
  std::vector<std::byte> bytes;
  friend bool operator==(const FrameLogEntry&, const FrameLogEntry&) = default;
};

/// Writes one session file. One thread. A block is written when it is full or `flush` is called, so a crash loses at
/// most the last block. Where a block no longer fits on the disk, as many of its entries are written as do. After a
/// failure (disk full, file too large, broken disk) the file is cut back to its last complete block, so that it stays
/// readable, and every later call gives the same error, which says until when the recording is safe. That others have
/// deleted the file or changed it is a failure, too; one that was moved is whole where it is.
class FrameLogWriter {
 public:
  /// Fails if the file exists and is not empty, or can't be made.
  static Result<std::unique_ptr<FrameLogWriter>> create(const std::string& path, const FrameLogHeader& header);
  ~FrameLogWriter();  ///< Closes; prefer close(), which can say what went wrong.

  /// Refuses more than kMaxFrameBytes (frame.h). Times may go back, but seeking is by the first block that is late
  /// enough.
  Status append(Nanoseconds received_at, Direction direction, std::span<const std::byte> bytes);
  Status flush();                       ///< Ends the block and hands it to the system.
  Status close();                       ///< Last block, index, trailer.
  std::uint64_t bytes_written() const;  ///< On disk so far.

 private:
  struct Impl;
  explicit FrameLogWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What a reader had to leave out.
struct FrameLogDamage {
  std::uint64_t blocks_skipped = 0;
  std::uint64_t bytes_skipped = 0;
  /// When what was skipped had been received, if that is known of all of it: from the first to the last frame of these blocks.
  bool has_times = true;
  Nanoseconds from = Nanoseconds::max(), to = Nanoseconds::min();
  bool cut = false;   ///< The file ends without its index: it was not closed, or was cut.
  std::string first;  ///< One line about the first damage; empty if there is none.
};

/// Reads one session file from start to end, skipping what is damaged. One thread.
class FrameLogReader {
 public:
  /// Fails with one clear line on: no such file, not a file, empty, not a session file, another version. Damage behind
  /// the first sixteen bytes is no failure: what is sound is read.
  static Result<std::unique_ptr<FrameLogReader>> open(const std::string& path);
  ~FrameLogReader();

  const FrameLogHeader& header() const;
  int format_version() const;  ///< Of the file.
  /// False at the end. `entry` is overwritten.
  bool next(FrameLogEntry& entry);
  /// Continues at the first block that may hold entries received at or after `time`.
  void seek(Nanoseconds time);
  /// When the last entry was received, as far as that can be told without reading the blocks; 0 if there is none.
  Nanoseconds duration() const;
  const FrameLogDamage& damage() const;  ///< Of what was read so far.

 private:
  struct Impl;
  explicit FrameLogReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace idlewave::wire
