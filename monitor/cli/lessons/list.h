#pragma once

namespace idlewave::cli::lessons {

/// Names all lessons, each with what it shows and from which figure that is. Exit code.
int list_lessons();

}  // namespace idlewave::cli::lessons
