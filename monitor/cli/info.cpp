#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "monitor/cli/verbs.h"
#include "probe/wire/frame_log.h"
#include "probe/wire/frame.h"
#include "probe/wire/printable.h"

namespace idlewave::cli {
namespace {

using json = nlohmann::ordered_json;

struct Contents {
  std::uint64_t received = 0, sent = 0, bytes = 0;
  Nanoseconds duration{};
  wire::Rank ranks = 0;
  std::string program;
};

Contents read_all(wire::FrameLogReader& reader) {
  Contents contents;
  wire::FrameLogEntry entry;
  while (reader.next(entry)) {
    ++(entry.direction == wire::Direction::kReceived ? contents.received : contents.sent);
    contents.bytes += entry.bytes.size();
    contents.duration = entry.received_at;
    const auto frame = wire::decode(entry.bytes);
    const wire::Roster* roster = frame ? std::get_if<wire::Roster>(&frame->body) : nullptr;
    if (!roster) continue;
    contents.ranks = std::max(contents.ranks, roster->world_size);
    if (contents.program.empty()) contents.program = roster->program;
  }
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

json describe(const std::string& path, const wire::FrameLogReader& reader, const Contents& contents) {
  const wire::FrameLogHeader& header = reader.header();
  json object;
  object["file"] = path;
  object["format_version"] = wire::kFrameLogVersion;
  object["recorded_by"] = header.program_version;
  object["recorded_at"] = utc(header.unix_time_ns);
  object["session"] = header.session;
  object["machine"] = header.machine;
  object["command_line"] = header.command_line;
  object["program"] = contents.program;
  object["ranks"] = contents.ranks;
  object["duration_s"] = double(contents.duration.count()) * 1e-9;
  object["frames"] = contents.received;
  object["commands"] = contents.sent;
  object["frame_bytes"] = contents.bytes;
  object["complete"] = !reader.damage().cut;
  object["blocks_skipped"] = reader.damage().blocks_skipped;
  object["bytes_skipped"] = reader.damage().bytes_skipped;
  if (!reader.damage().first.empty()) object["damage"] = reader.damage().first;
  return object;
}

std::string as_lines(const json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) text += fmt::format("{:15} {}\n", key, value.is_string() ? wire::printable(value.get<std::string>()) : value.dump());
  return text;
}

}  // namespace

int info(const FileOptions& options) {
  auto reader = wire::FrameLogReader::open(options.path);
  if (!reader) return fail(reader.error().message, 2);
  const Contents contents = read_all(**reader);
  const json object = describe(options.path, **reader, contents);
  const std::string text = options.json ? object.dump(2, ' ', true, json::error_handler_t::replace) + "\n" : as_lines(object);
  print(text);
  return 0;
}

}  // namespace idlewave::cli
