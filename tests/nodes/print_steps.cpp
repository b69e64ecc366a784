// iw-print-steps FILE: when each step of each rank began, by session time, a line each: rank, step, nanoseconds. Then the clocks.

#include <cstdio>

#include "monitor/cli/observer.h"
#include "probe/wire/frame_log.h"

int main(int argc, char** argv) {
  using namespace idlewave;
  if (argc != 2) return std::fprintf(stderr, "usage: iw-print-steps FILE\n"), 2;
  auto reader = wire::FrameLogReader::open(argv[1]);
  if (!reader) return std::fprintf(stderr, "%s\n", reader.error().message.c_str()), 2;
  cli::Observer observer({}, 512u << 20);
  for (wire::FrameLogEntry entry; (*reader)->next(entry);)
    observer.accept({entry.received_at, entry.direction, std::move(entry.bytes)});
  const timeline::Timeline& timeline = observer.timeline();
  for (wire::Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const timeline::Lane* lane = timeline.lane(rank);
    if (lane == nullptr) continue;
    for (const timeline::StepRecord& step : lane->steps())
      std::printf("step %d %lld %lld\n", int(rank), static_cast<long long>(step.step),
                  static_cast<long long>(step.begin.count()));
  }
  return 0;
}
