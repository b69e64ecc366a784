#include <fmt/format.h>

#include <ctime>

#include "monitor/analysis/session/lost_ranks.h"
#include "monitor/analysis/steps/step_history.h"
#include "monitor/cli/observer.h"
#include "monitor/cli/progress.h"
#include "monitor/cli/reporting/clocks.h"
#include "monitor/cli/reporting/report.h"
#include "monitor/cli/verbs.h"
#include "monitor/ingest/event_counter.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/printable.h"
#include "workloads/support/json.h"

namespace idlewave::cli {
namespace {

using json = support::Json;

struct Contents {
  std::uint64_t received = 0, sent = 0, bytes = 0;
  Nanoseconds last{};  ///< When the last of them came, since the recording began.
};

Contents read_all(wire::FrameLogReader& reader, const std::string& path, Observer& observer) {
  Progress progress("reading " + path);
  const double duration = double(reader.duration().count());
  Contents contents;
  wire::FrameLogEntry entry;
  while (reader.next(entry)) {
    ++(entry.direction == wire::Direction::kReceived ? contents.received : contents.sent);
    contents.bytes += entry.bytes.size();
    contents.last = std::max(contents.last, entry.received_at);
    progress.reached(double(entry.received_at.count()) / duration);
    observer.accept({entry.received_at, entry.direction, std::move(entry.bytes)});
  }
  observer.note_damage(reader.damage());
  return contents;
}

std::string utc(std::int64_t unix_time_ns) {
  const std::time_t seconds = unix_time_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

json describe(const std::string& path, const wire::FrameLogReader& reader, const Contents& contents,
              const ingest::EventCounts& counts, const timeline::Timeline& timeline,
              const analysis::session::Missing& missing) {
  const wire::FrameLogHeader& header = reader.header();
  json object;
  object["file"] = path;
  object["format_version"] = reader.format_version();
  object["recorded_by"] = header.program_version;
  object["recorded_at"] = header.unix_time_ns > 0 ? json(utc(header.unix_time_ns)) : json();
  object["session"] = header.session;
  object["machine"] = header.machine;
  object["command_line"] = header.command_line;
  object["program"] = timeline.program();
  object["ranks"] = timeline.ranks();
  object["from_s"] = timeline.empty() ? json() : json(wire::seconds(timeline.begin()));
  object["duration_s"] =
      timeline.empty() ? json() : json(wire::seconds(analysis::steps::run_end(timeline) - timeline.begin()));
  object["received_s"] = wire::seconds(contents.last);
  object["frames"] = contents.received;
  object["commands"] = contents.sent;
  object["frame_bytes"] = contents.bytes;
  object["events"] = counts.events;
  object["rank_steps"] = counts.rank_steps;
  object["delays"] = counts.delays;
  object["samples"] = counts.samples;
  object["complete"] = missing.is_complete();
  object["missing"] = reporting::missing_json(missing);
  object["lost_ranks"] = reporting::lost_ranks_json(timeline);
  object["closed"] = !reader.damage().cut;
  object["blocks_skipped"] = reader.damage().blocks_skipped;
  object["bytes_skipped"] = reader.damage().bytes_skipped;
  if (!reader.damage().first.empty()) object["damage"] = reader.damage().first;
  return object;
}

/// For people, what is missing is one line, and who was lost.
std::string as_lines(json object, const timeline::Timeline& timeline, const analysis::session::Missing& missing,
                     const std::vector<analysis::session::LostRank>& lost) {
  object["missing"] = missing.is_complete() ? "nothing" : to_words(missing);
  object["lost_ranks"] = lost.empty() ? "none" : to_words(lost);
  for (const char* key : {"recorded_at", "from_s", "duration_s"})
    if (object.at(key).is_null()) object[key] = "not known";
  const std::string clocks = reporting::clocks_in_words(timeline);
  if (!clocks.empty()) object["clocks"] = clocks;
  std::string text;
  for (const auto& [key, value] : object.in_words()) text += fmt::format("{:15} {}\n", key, wire::printable(value));
  return text;
}

}  // namespace

int info(const FileOptions& options) {
  auto reader = wire::FrameLogReader::open(options.path);
  if (!reader) return fail(reader.error().message, 2);
  ingest::EventCounter counter;
  Observer observer({}, options.memory);
  observer.add(counter);
  const Contents contents = read_all(**reader, options.path, observer);
  const analysis::session::Missing missing = analysis::session::find_missing(observer.timeline());
  const auto lost = analysis::session::find_lost_ranks(observer.timeline());
  json object = describe(options.path, **reader, contents, counter.counts(), observer.timeline(), missing);
  if (options.json) object["clocks"] = reporting::clocks_json(observer.timeline());
  const std::string text = options.json ? object.text() + "\n" : as_lines(object, observer.timeline(), missing, lost);
  print(text);
  if (options.check && !lost.empty()) fail("lost: " + to_words(lost), 0);
  return options.check && !missing.is_complete() ? fail(options.path + " is incomplete: " + to_words(missing), 1) : 0;
}

}  // namespace idlewave::cli
