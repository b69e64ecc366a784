#include "monitor/cli/simulation/schedule_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_writer.h"
#include "workloads/support/input_file.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::cli::simulation {

/// Not by mapping the file: who cuts it short would end us by a signal.
wire::Result<sim::network::GoalSchedule> read_schedule(const std::filesystem::path& path) {
  std::error_code no_file;
  const std::uintmax_t size = std::filesystem::file_size(path, no_file);
  const std::size_t most = no_file ? 0 : size;
  if (const auto room = support::check_memory(2 * most, "take a smaller schedule"); !room) return room.error();
  const auto text = support::read_input_file(path, most, "give the path of a GOAL schedule");
  if (!text) return text.error();
  return sim::network::read_goal(*text, path.string());
}

wire::Status write_schedule(const sim::network::GoalSchedule& schedule, const std::filesystem::path& path) {
  FILE* const file = std::fopen(path.c_str(), "wxe");
  if (!file) return wire::Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  sim::network::GoalWriter writer(schedule);
  std::string text = goal_head(schedule);
  const auto put = [&] { return std::fwrite(text.data(), 1, text.size(), file) == text.size(); };
  bool whole = put();
  while (whole && !writer.is_done()) {
    text.clear();
    writer.write_rank(text);
    whole = put();
  }
  const int failed = errno;
  if (std::fclose(file) == 0 && whole) return wire::ok();
  unlink(path.c_str());
  return wire::Error{fmt::format("{}: {}", path.string(), std::strerror(whole ? errno : failed))};
}

}  // namespace idlewave::cli::simulation
