#include "monitor/cli/recording.h"

#include <limits>
#include <vector>

#include "monitor/cli/progress.h"
#include "monitor/link/link.h"

namespace idlewave::cli {
namespace {

void read_all(link::Link& link, Observer& observer, Progress& progress) {
  const auto gathering = observer.gather();
  std::vector<link::Delivery> deliveries;
  for (Nanoseconds turn{}; link.status().state != link::LinkState::kEnded; ++turn) {
    link.receive(turn, deliveries);
    for (const link::Delivery& delivery : deliveries) observer.accept(delivery);
    if (!deliveries.empty()) progress.reached(share_of(deliveries.back().received_at, link.status().duration));
    deliveries.clear();
  }
}

}  // namespace

wire::Result<Recording> read_recording(const std::string& path, std::uint64_t memory) {
  auto link = link::open_replay({.path = path, .speed = std::numeric_limits<double>::infinity()});
  if (!link) return link.error();
  Recording recording{std::make_unique<Observer>("", memory), {}};
  Progress progress("reading " + path);
  read_all(**link, *recording.observer, progress);
  recording.damage = link::replay_control(**link)->damage();
  recording.observer->note_damage(recording.damage);
  return recording;
}

}  // namespace idlewave::cli
