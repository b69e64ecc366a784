#pragma once
// The `[play]` of a lesson: one of our programs, which it starts in the place of iw-ring.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::support {

struct PlayedProgram {
  std::string name;                    ///< "iw-hybrid", without its MPI.
  std::vector<std::string> arguments;  ///< As behind it on a command line.
  wire::Rank ranks = 0;                ///< 0: by the cores of the machine,
  wire::Rank ranks_per_core = 0;       ///< so many on each.
};

/// Those that print what they measured with --json.
std::span<const std::string_view> playable_programs();

class Section;
PlayedProgram read_played_program(Section section);

}  // namespace idlewave::support
