#pragma once

#include <string>
#include <vector>

namespace idlewave::cli::lessons {

/// Names all lessons, each with what it shows and from which figure that is. Exit code.
int list_lessons();

/// Those that simulated ranks can play.
std::vector<std::string> simulated_lessons();

}  // namespace idlewave::cli::lessons
