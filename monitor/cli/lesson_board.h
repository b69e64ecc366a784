#pragma once
// The page of a lesson as the screen shows it.

#include <optional>

#include "monitor/lesson/tutor.h"
#include "monitor/view/model.h"

namespace idlewave::cli {

view::Lesson lesson_board(const lesson::Tutor& tutor);

/// Whom the page wants to be held.
std::optional<wire::Rank> rank_of_page(const lesson::Tutor& tutor);

}  // namespace idlewave::cli
