#pragma once
// The command line of iw-heat.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/heat/square.h"

namespace idlewave::heat {

/// How a process comes by the rows of others.
enum class Memory {
  kMessages,
  kPages,  ///< Of a memory that all share, as if they were threads of one process.
};
std::string_view name_of(Memory memory);

struct Options {
  std::vector<Square> squares{{20}, {80}, {250}, {1000}};
  std::vector<Memory> memories{Memory::kMessages, Memory::kPages};
  int threads = 1;           ///< Of each process.
  std::int64_t steps = 100;  ///< Of each size with each memory.
  bool json = false;
};

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// `ranks`: the size of the job. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks);

}  // namespace idlewave::heat
