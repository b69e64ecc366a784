#include "monitor/cli/calibration/machine_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "monitor/cli/calibration/output.h"
#include "monitor/cli/paths.h"
#include "probe/wire/printable.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::calibration {
namespace {

std::string curve_line(const Fit& fit) {
  std::string curve;
  for (const double bandwidth : fit.curve)
    curve += fmt::format("{}\"{}\"", curve.empty() ? "" : ", ", words::exact_bandwidth(bandwidth));
  return "curve = [" + curve + "]";
}

std::string of_loop(const LoopResult& loop, const char* mark) {
  return fmt::format("\n# {}\n{}{}\n", summary_of(loop), mark, curve_line(loop.fit));
}

}  // namespace

std::string machine_file(const Calibration& calibration) {
  std::string text = fmt::format(
      "# What n cores of a memory domain draw together, measured by `idlewave calibrate`.\n# {}\n"
      "# Bytes are those that cross the memory interface, with the write-allocate of ordinary stores.\n\n"
      "[machine]\nranks_per_domain = {}\n",
      wire::printable(calibration.processors), calibration.cores_of_domain());
  for (std::size_t i = 0; i < calibration.loops.size(); ++i) text += of_loop(calibration.loops[i], i == 0 ? "" : "# ");
  return text;
}

wire::Status check_free(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    return wire::Error{path + ": exists; remove it, or name another file"};
  return check_folder_of(path);
}

wire::Status write_machine_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return wire::ok();
  const int reason = errno;
  std::error_code error;
  std::filesystem::remove(path, error);
  return wire::Error{fmt::format("{}: can't be written: {}", path, std::strerror(reason))};
}

}  // namespace idlewave::cli::calibration
