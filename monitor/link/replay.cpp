#include <poll.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "monitor/link/link.h"

namespace idlewave::link {
namespace {

// What one receive() hands out. A frame of 20,000 ranks takes about as much, and some ten milliseconds to take in, in
// which nobody looks at the keys.
constexpr std::size_t kBytesAtOnce = 256u << 10;
constexpr Nanoseconds kForever = Nanoseconds::max();

/// What a file says is added to and taken from other times, so it must leave room for that: 73 years.
Nanoseconds plausible(Nanoseconds received_at) {
  return std::clamp(received_at, Nanoseconds(0), Nanoseconds(std::int64_t{1} << 61));
}

/// What time of the recording it is, given the monitor's.
class Playhead {
 public:
  explicit Playhead(double speed) : speed_(speed) {}

  Nanoseconds at(Nanoseconds now) const {
    if (!since_ || paused_ || now <= *since_) return position_;
    const double gone = static_cast<double>((now - *since_).count()) * speed_;
    return gone < static_cast<double>((kForever - position_).count()) ? position_ + Nanoseconds(std::llround(gone))
                                                                      : kForever;
  }
  /// The monitor's time that passes from `now` until the recording reaches `moment`.
  Nanoseconds time_until(Nanoseconds moment, Nanoseconds now) const {
    if (paused_) return kForever;
    const double left = static_cast<double>((moment - at(now)).count()) / speed_;
    return left < static_cast<double>(kForever.count()) ? Nanoseconds(std::llround(std::max(left, 0.0))) : kForever;
  }
  void start(Nanoseconds now) { since_ = since_.value_or(now); }
  void set_speed(double speed, Nanoseconds now) { rest(now), speed_ = speed; }
  void pause(bool paused, Nanoseconds now) { rest(now), paused_ = paused; }

 private:
  void rest(Nanoseconds now) {
    position_ = at(now);
    if (since_) since_ = now;
  }

  Nanoseconds position_{};  // At since_.
  double speed_;
  bool paused_ = false;
  std::optional<Nanoseconds> since_;  // Nothing until the first receive().
};

class Replay final : public Link, public ReplayControl {
 public:
  Replay(std::unique_ptr<wire::FrameLogReader> reader, double speed);

  void receive(Nanoseconds now, std::vector<Delivery>& out) override;
  wire::Status send(Nanoseconds, const wire::Command&) override {
    return wire::Error{wire::to_words(wire::NoCommand::kRecording)};
  }
  void wait(Nanoseconds timeout, int extra_fd) override;
  LinkStatus status() const override;

  void set_speed(double speed, Nanoseconds now) override;
  void pause(bool paused, Nanoseconds now) override { playhead_.pause(paused, now); }
  Nanoseconds next_at() const override { return has_next_ ? next_.received_at : kForever; }
  const wire::FrameLogHeader& header() const override { return reader_->header(); }
  const wire::FrameLogDamage& damage() const override { return reader_->damage(); }

 private:
  void read_next();
  bool is_due(Nanoseconds position) const { return has_next_ && next_.received_at <= position; }

  std::unique_ptr<wire::FrameLogReader> reader_;
  Nanoseconds duration_;
  Playhead playhead_;
  wire::FrameLogEntry next_;
  bool has_next_;
  Nanoseconds now_{};  // Of the last receive().
};

Replay::Replay(std::unique_ptr<wire::FrameLogReader> reader, double speed)
    : reader_(std::move(reader)), duration_(plausible(reader_->duration())), playhead_(speed) {
  read_next();
}

void Replay::read_next() {
  has_next_ = reader_->next(next_);
  next_.received_at = plausible(next_.received_at);
}

void Replay::receive(Nanoseconds now, std::vector<Delivery>& out) {
  playhead_.start(now);
  now_ = now;
  const Nanoseconds position = playhead_.at(now);
  for (std::size_t bytes = 0; is_due(position) && bytes < kBytesAtOnce; read_next()) {
    bytes += next_.bytes.size();
    out.emplace_back(next_.received_at, next_.direction, std::move(next_.bytes));
  }
}

void Replay::wait(Nanoseconds timeout, int extra_fd) {
  if (has_next_) timeout = std::min(timeout, playhead_.time_until(next_.received_at, now_));
  pollfd extra{extra_fd, POLLIN, 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  poll(&extra, 1, static_cast<int>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max())));
}

LinkStatus Replay::status() const {
  LinkStatus status;
  status.state = has_next_ ? LinkState::kLive : LinkState::kEnded;
  status.replay = true;
  status.no_command = wire::NoCommand::kRecording;
  status.duration = duration_;
  status.position = has_next_ ? std::min(playhead_.at(now_), duration_) : duration_;
  return status;
}

void Replay::set_speed(double speed, Nanoseconds now) {
  assert(speed > 0);
  playhead_.set_speed(speed, now);
}

}  // namespace

wire::Result<std::unique_ptr<Link>> open_replay(const ReplayOptions& options) {
  assert(options.speed > 0);
  auto reader = wire::FrameLogReader::open(options.path);
  if (!reader) return reader.error();
  return std::unique_ptr<Link>(new Replay(std::move(*reader), options.speed));
}

ReplayControl* replay_control(Link& link) {
  if (auto* recorder = dynamic_cast<Recorder*>(&link)) return replay_control(recorder->inner());
  return dynamic_cast<Replay*>(&link);
}

}  // namespace idlewave::link
