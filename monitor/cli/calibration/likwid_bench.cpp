#include "monitor/cli/calibration/likwid_bench.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <string>

namespace idlewave::cli::calibration {
namespace {

constexpr int kPasses = 3;

/// What it prints; the path and all else of the command line are ours, and hold no quotes.
std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), read);
  return pclose(pipe) == 0 ? output : "";
}

}  // namespace

std::string_view likwid_name_of(StreamKind kind) {
  switch (kind) {
    case StreamKind::kTriad: return kernels::kHasNonTemporalStores ? "stream_sse" : "stream";
    case StreamKind::kTriadNt: return kernels::kHasNonTemporalStores ? "stream_mem_sse" : "";
    case StreamKind::kSlowTriad: return "";
  }
  return "";
}

std::optional<double> parse_likwid_bandwidth(std::string_view output) {
  constexpr std::string_view kKey = "MByte/s:";
  const auto at = output.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = output.find_first_not_of(" \t", at + kKey.size());
  double megabytes = 0;
  if (number == std::string_view::npos ||
      std::from_chars(output.data() + number, output.data() + output.size(), megabytes).ec != std::errc{} ||
      megabytes <= 0)
    return std::nullopt;
  return megabytes * 1e6;
}

std::vector<double> ask_likwid_bench(const std::filesystem::path& program, StreamKind kind, std::size_t index,
                                     const MeasuredDomain& domain, std::uint64_t array_bytes) {
  std::vector<double> bandwidths;
  const std::string_view loop = likwid_name_of(kind);
  if (loop.empty() || program.string().find('\'') != std::string::npos) return {};
  const double ours_to_its = double(kernels::bytes_per_iteration(kind)) / double(bytes_as_stream_counts(kind));
  for (std::size_t n = 1; n <= domain.cores.size(); ++n) {
    const std::string command = fmt::format("'{}' -t {} -w M{}:{}kB:{} -i {} 2>/dev/null </dev/null", program.string(),
                                            loop, index, 3 * array_bytes / 1000, n, kPasses);
    const auto bandwidth = parse_likwid_bandwidth(output_of(command));
    if (!bandwidth) return {};
    bandwidths.push_back(*bandwidth * ours_to_its);
  }
  return bandwidths;
}

}  // namespace idlewave::cli::calibration
