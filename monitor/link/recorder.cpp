#include <cstdio>
#include <map>
#include <utility>

#include "monitor/link/link.h"

namespace idlewave::link {
namespace {

constexpr Nanoseconds kFlushEvery = std::chrono::seconds(4);
// Whatever is made up of nodes and rosters, the memory for a later recording is bounded: a roster of a hundred ranks
// takes a kilobyte.
constexpr std::size_t kMaxRosterBytes = 64u << 20;
constexpr std::size_t kBytesForANode = 512;  // Beside its roster.

/// The rest is chance, and would cost a byte or two for every frame.
Nanoseconds to_microseconds(Nanoseconds time) { return std::chrono::duration_cast<std::chrono::microseconds>(time); }

}  // namespace

struct Recorder::Impl {
  /// What a recording that begins now must say first about a node.
  struct Node {
    std::vector<std::byte> roster;  // As it came.
    std::uint64_t sequence = 0;     // Of the node's latest frame.
  };

  bool learn(const Delivery& delivery);
  void keep_roster(const wire::Frame& frame, std::span<const std::byte> bytes);
  wire::Status write_rosters();
  void record(Nanoseconds now, std::span<const Delivery> deliveries);
  void fail(const wire::Error& error);

  std::map<std::string, Node> nodes;
  std::size_t roster_bytes = 0;  // Of all nodes.
  bool too_many_nodes = false;   // Some could not be kept.
  std::unique_ptr<wire::FrameLogWriter> writer;
  std::string path;
  std::string failure;
  Nanoseconds started{};  // Monitor's clock.
  Nanoseconds flushed{};
  std::uint64_t bytes_written = 0;
};

/// Keeps what a later recording would need to know. True if the frame begins or ends its sender's stream: that is worth
/// being on disk at once.
bool Recorder::Impl::learn(const Delivery& delivery) {
  if (delivery.direction != wire::Direction::kReceived) return false;
  if (!delivery.frame || !wire::is_sequenced(delivery.frame->frame)) return false;
  const wire::Frame& frame = delivery.frame->frame;
  const bool is_new = !nodes.contains(frame.node);
  if (std::holds_alternative<wire::Roster>(frame.body)) keep_roster(frame, delivery.bytes);
  const auto known = nodes.find(frame.node);
  if (known != nodes.end()) known->second.sequence = frame.sequence;
  return is_new || std::holds_alternative<wire::End>(frame.body);
}

void Recorder::Impl::keep_roster(const wire::Frame& frame, std::span<const std::byte> bytes) {
  const auto known = nodes.find(frame.node);
  const std::size_t before = known == nodes.end() ? 0 : known->second.roster.size() + kBytesForANode;
  const std::size_t after = bytes.size() + kBytesForANode;
  if (roster_bytes - before + after > kMaxRosterBytes) return static_cast<void>(too_many_nodes = true);
  roster_bytes += after - before;
  nodes[frame.node].roster.assign(bytes.begin(), bytes.end());
}

/// The roster of each node, as if it had been sent just before the frame that comes next: what came before the
/// recording is no loss.
wire::Status Recorder::Impl::write_rosters() {
  for (const auto& [name, node] : nodes) {
    auto roster = wire::decode(node.roster);
    roster->sequence = node.sequence;
    auto written = writer->append(Nanoseconds(0), wire::Direction::kReceived, wire::encode(*roster));
    if (!written) return written;
  }
  return writer->flush();
}

void Recorder::Impl::record(Nanoseconds now, std::span<const Delivery> deliveries) {
  bool flush_now = now - flushed >= kFlushEvery;
  for (const Delivery& delivery : deliveries) {
    flush_now = learn(delivery) || flush_now;
    if (!writer) continue;
    if (auto written = writer->append(to_microseconds(now - started), delivery.direction, delivery.bytes); !written)
      fail(written.error());
  }
  if (!writer || !flush_now) return;
  if (auto written = writer->flush(); !written) return fail(written.error());
  flushed = now;
}

void Recorder::Impl::fail(const wire::Error& error) {
  failure = error.message;
  bytes_written = writer->bytes_written();
  writer.reset();
}

Recorder::Recorder(std::unique_ptr<Link> inner) : inner_(std::move(inner)), impl_(std::make_unique<Impl>()) {}
Recorder::~Recorder() = default;  // The recording is closed before the link tells the senders that it leaves.

wire::Status Recorder::start(const std::string& path, const wire::FrameLogHeader& header, Nanoseconds now) {
  if (recording()) return wire::Error{"already recording to " + impl_->path};
  if (impl_->too_many_nodes)
    return wire::Error{
        "this session announces more than a recording can begin with in its midst (64 MB of rosters); "
        "record it from its start with --record"};
  auto writer = wire::FrameLogWriter::create(path, header);
  if (!writer) return writer.error();
  impl_->writer = std::move(*writer);
  impl_->path = path;
  impl_->failure.clear();
  impl_->started = impl_->flushed = now;
  auto written = impl_->write_rosters();
  if (!written) impl_->fail(written.error());
  return written;
}

wire::Status Recorder::stop() {
  if (!recording()) return wire::ok();
  auto closed = impl_->writer->close();
  if (!closed) {
    impl_->fail(closed.error());
    return closed;
  }
  impl_->bytes_written = impl_->writer->bytes_written();
  impl_->writer.reset();
  return closed;
}

void Recorder::discard() {
  if (!recording()) return;
  impl_->writer.reset();
  std::remove(impl_->path.c_str());
}

bool Recorder::recording() const { return impl_->writer != nullptr; }
const std::string& Recorder::path() const { return impl_->path; }
const std::string& Recorder::failure() const { return impl_->failure; }
std::uint64_t Recorder::bytes_written() const {
  return impl_->writer ? impl_->writer->bytes_written() : impl_->bytes_written;
}

void Recorder::receive(Nanoseconds now, std::vector<Delivery>& out) {
  const std::size_t before = out.size();
  inner_->receive(now, out);
  impl_->record(now, std::span(out).subspan(before));
}

wire::Status Recorder::send(Nanoseconds now, const wire::Command& command) { return inner_->send(now, command); }
void Recorder::wait(Nanoseconds timeout, int extra_fd) { inner_->wait(timeout, extra_fd); }
LinkStatus Recorder::status() const { return inner_->status(); }

}  // namespace idlewave::link
