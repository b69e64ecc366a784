#include "monitor/cli/simulation/frames.h"

#include <filesystem>
#include <utility>

#include "monitor/cli/paths.h"
#include "probe/wire/codec.h"

namespace idlewave::cli::simulation {

template <class Body>
void Frames::add(Body body, wire::Nanoseconds at) {
  auto bytes = wire::encode({session_, sim::emitter::kNode, ++sequence_, std::move(body)});
  if (file_ && written_) written_ = file_->append(at, wire::Direction::kReceived, bytes);
  if (observer_) observer_->accept({at, wire::Direction::kReceived, std::move(bytes)});
}

wire::Status Frames::into_file(const std::string& path, const std::string& input) {
  auto file = wire::FrameLogWriter::create(path, {.program_version = IDLEWAVE_VERSION,
                                                  .session = session_,
                                                  .machine = "simulated",
                                                  .command_line = "idlewave sim " + input});
  if (!file) return file.error();
  file_ = std::move(*file);
  return wire::ok();
}

void Frames::send(wire::Roster roster) { add(std::move(roster), {}); }

void Frames::send(wire::Events events) {
  last_ = events.up_to;
  add(std::move(events), last_);
}

wire::Status Frames::end() {
  add(wire::End{}, last_);
  return written_ && file_ ? file_->close() : written_;
}

/// As the writer of recordings has it: an empty file may be written over.
wire::Status check_free(const std::string& path) {
  std::error_code missing;
  if (std::filesystem::is_directory(path, missing)) return wire::Error{path + ": is a folder; name a file in it"};
  if (!std::filesystem::exists(path, missing)) return check_folder_of(path);
  const auto size = std::filesystem::file_size(path, missing);
  if (missing || size == 0) return wire::ok();
  return wire::Error{path + " exists; choose another name"};
}

}  // namespace idlewave::cli::simulation
