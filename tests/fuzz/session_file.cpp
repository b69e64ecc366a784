// A session file: info, report, replay, and what `sim --from` makes of it. The first byte says whether the rest is a
// file, byte for byte, or frames for a sound one, since no fuzzer finds the checksum of a compressed block.

#include <memory>

#include "monitor/analysis/program/program.h"
#include "monitor/cli/observer.h"
#include "monitor/cli/recording.h"
#include "monitor/cli/reporting/report.h"
#include "monitor/link/link.h"
#include "monitor/model/derived_scenario.h"
#include "monitor/view/screen/screen.h"
#include "monitor/view/state.h"
#include "probe/wire/frame_log.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/road.h"
#include "workloads/support/scenario.h"

namespace idlewave::fuzz {
namespace {

void write_frames(Bytes& in, const std::string& path) {
  auto writer = wire::FrameLogWriter::create(path, {"0", in.text(8), in.text(8), in.text(8), in.number()});
  require(bool(writer));
  std::uint64_t next = 0;
  Nanoseconds at{};
  for (int frames = 0; !in.empty() && frames < 64; ++frames) {
    at = in.below(16) == 0 ? Nanoseconds(in.number() / 2) : at + std::chrono::milliseconds(in.byte());
    const auto direction = in.below(16) == 0 ? wire::Direction::kSent : wire::Direction::kReceived;
    require(bool((*writer)->append(at, direction, take_message(in, next))));
    if (in.below(8) == 0) require(bool((*writer)->flush()));
  }
  require(bool((*writer)->close()));
}

void look_at(cli::Observer& observer) {
  const auto report =
      cli::reporting::report_json(observer.timeline(), {}) + cli::reporting::report_text(observer.timeline(), {});
  view::SessionInfo session;
  const view::Model model{observer.timeline(), observer.findings(), observer.narrator().remarks(), session};
  for (const view::paint::Size size : {view::paint::Size{80, 24}, view::paint::Size{20, 5}})
    (void)view::screen::draw({}, model, size, {});
}

void replay(const std::string& path) {
  auto link = link::open_replay({.path = path, .speed = std::numeric_limits<double>::infinity()});
  if (!link) return;
  cli::Observer observer("", 1 << 20);
  std::vector<link::Delivery> deliveries;
  for (Nanoseconds now{}; (*link)->status().state != link::LinkState::kEnded; now += std::chrono::milliseconds(50)) {
    deliveries.clear();
    (*link)->receive(now, deliveries);
    for (const link::Delivery& delivery : deliveries) observer.accept(delivery);
    observer.refresh(now, observer.timeline().now(), std::chrono::seconds(5));
  }
  observer.note_damage(link::replay_control(**link)->damage());
  look_at(observer);
}

void simulate_from(const std::string& path) {
  const auto recording = cli::read_recording(path, 1 << 20);
  if (!recording) return require(!recording.error().message.empty());
  const auto program = analysis::program::find_program(recording->timeline());
  if (!program) return require(!program.error().message.empty());
  (void)support::parse_scenario(model::scenario_of(*program, path), path);
}

}  // namespace

void run_road(Bytes& in) {
  MemoryFile file;
  if (in.flag())
    file.write(in.rest());
  else
    write_frames(in, file.path());
  replay(file.path());
  simulate_from(file.path());
}

}  // namespace idlewave::fuzz
