#include "monitor/cli/recording.h"

#include <limits>
#include <vector>

#include "monitor/cli/progress.h"
#include "monitor/link/link.h"

namespace idlewave::cli {
namespace {

/// What a link hands out at a time is meant for a screen that looks at its keys in between.
constexpr int kTurnsAtOnce = 16;

}  // namespace

wire::Result<Recording> read_recording(const std::string& path, std::uint64_t memory) {
  auto link = link::open_replay({.path = path, .speed = std::numeric_limits<double>::infinity()});
  if (!link) return link.error();
  Recording recording{std::make_unique<Observer>("", memory), {}};
  Progress progress("reading " + path);
  std::vector<link::Delivery> deliveries;
  Nanoseconds turn{};
  while ((*link)->status().state != link::LinkState::kEnded) {
    for (int more = 0; more < kTurnsAtOnce; ++more) (*link)->receive(turn++, deliveries);
    recording.observer->accept(deliveries);
    if (!deliveries.empty()) progress.reached(share_of(deliveries.back().received_at, (*link)->status().duration));
    deliveries.clear();
  }
  recording.damage = link::replay_control(**link)->damage();
  recording.observer->note_damage(recording.damage);
  return recording;
}

}  // namespace idlewave::cli
