#pragma once
// Messages over two descriptors, where no port leads to the other side: over the standard streams of ssh, say. Each
// stands behind its length, 32 bits, lowest byte first, and ahead of a line feed: srun passes on whole lines, or what is
// longer than 1 KiB (docs/protocol.md).

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace idlewave::mailbox {

enum class Sent {
  kYes,   ///< Handed over. It arrives unless the connection breaks.
  kFull,  ///< The queue is full, or nobody is connected yet: later, perhaps.
  kGone,  ///< This peer's connection is closed for good.
};

/// One thread. The descriptors stay their owner's; SIGPIPE has to be ignored. What it keeps is at most the message that
/// is on its way out and the one that comes in: whoever is slow stops the other side.
class Stream {
 public:
  Stream(int in, int out) : in_(in), out_(out) {}

  /// Waits only where `out` blocks. kFull while an earlier message is still under way.
  Sent send(std::span<const std::byte> bytes);
  /// False if no whole message is there. Never waits.
  bool receive(std::vector<std::byte>& bytes);
  /// Writes what is still to be written, as far as it goes; true if nothing is left.
  bool flush();

  /// Why nothing can come any more, in words that go on behind a name; empty: it may.
  const std::string& cut() const { return cut_; }
  int in() const { return in_; }
  int out() const { return out_; }

 private:
  bool take(std::vector<std::byte>& bytes);
  bool read_more();

  int in_, out_;
  std::vector<std::byte> coming_;  ///< From taken_ on.
  std::size_t taken_ = 0;
  std::vector<std::byte> going_;  ///< From written_ on.
  std::size_t written_ = 0;
  bool nobody_reads_ = false;
  std::string cut_;
};

}  // namespace idlewave::mailbox
