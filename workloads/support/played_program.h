#pragma once
// The `[play]` of a lesson: one of our programs, which it starts in the place of iw-ring.

#include <string>
#include <string_view>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::support {

struct PlayedProgram {
  std::string name;                    ///< "iw-hybrid", without its MPI.
  std::vector<std::string> arguments;  ///< As behind it on a command line.
  wire::Rank ranks = 0;                ///< 0: by the cores of the machine,
  wire::Rank ranks_per_core = 0;       ///< so many on each.
};

/// Whether a program of that name has this key in what it prints with --json: "runs.1.ratio", places in lists as numbers.
/// Error: which keys it has.
wire::Status check_told(std::string_view program, std::string_view key);

/// Virtual sockets of a program that is played on so many ranks, by its arguments; 0: the machine decides.
int sockets_of(const PlayedProgram& played, wire::Rank ranks);

class Section;
PlayedProgram read_played_program(Section section);

}  // namespace idlewave::support
