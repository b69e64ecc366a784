#pragma once
// Threads of a process that are reserved for communication, as our MPI programs take them on their command lines.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "workloads/ranks/flags.h"

namespace idlewave::ranks {

/// A mode with so many reserved threads.
template <class Mode>
struct Way {
  Mode mode{};
  int reserved = 0;
};

/// Adds --reserved, of the mode `multiple`.
inline arguments::Option add_reserved(arguments::CommandLine& app, std::vector<int>& reserved) {
  constexpr int kMost = 1024;
  return add<std::vector<int>>(
             app, "--reserved", reserved, [](std::string_view text) { return words::parse_wholes(text, 1, kMost); },
             "mode multiple: threads that communicate, m of R07's performance ratio; a run of each number. [2]")
      .type_name("M,...");
}

/// In the order of the modes, then, of `multiple`, of the numbers of reserved threads. `funneled` reserves one.
template <class Mode>
std::vector<Way<Mode>> ways_of(const std::vector<Mode>& modes, const std::vector<int>& reserved, Mode funneled,
                               Mode multiple) {
  std::vector<Way<Mode>> ways;
  for (const Mode mode : modes) {
    if (mode == multiple)
      for (const int threads : reserved) ways.push_back({mode, threads});
    else
      ways.push_back({mode, mode == funneled ? 1 : 0});
  }
  return ways;
}

/// Whether --reserved has its mode, and each way a thread that works.
template <class Mode>
wire::Status check_ways(const arguments::CommandLine& app, const std::vector<Way<Mode>>& ways, int threads,
                        Mode multiple) {
  if (app.count("--reserved") > 0 && std::ranges::count(ways, multiple, &Way<Mode>::mode) == 0)
    return wire::Error{"--reserved belongs to --modes multiple"};
  for (const auto& [mode, reserved] : ways)
    if (reserved >= threads)
      return wire::Error{
          fmt::format("--modes: {} reserves {} of --threads {}, and nobody is left to work; --threads {} has one",
                      name_of(mode), reserved, threads, reserved + 1)};
  return wire::ok();
}

}  // namespace idlewave::ranks
