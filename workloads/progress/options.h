#pragma once
// The command line of iw-progress.

#include <string>
#include <variant>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::progress {

/// What the rank that works does without blocking; the other one blocks.
enum class Direction { kReceive, kSend };

enum class Directions { kBoth, kReceive, kSend };

struct Options {
  Directions directions = Directions::kBoth;
  std::vector<int> sizes = {1'000, 100'000, 20'000'000};  ///< Bytes of a message; each at least 1.
  int points = 9;                                         ///< Work times, from none to twice the communication.
  int repetitions = 9;                                    ///< Of each.
  bool json = false;
};

/// What `--help` or `--version` prints.
struct Text {
  std::string text;
};

/// `ranks` is the size of the job, which has to be two. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks);

}  // namespace idlewave::progress
