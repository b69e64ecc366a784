#pragma once
// The page of a lesson as the screen shows it.

#include <optional>

#include "monitor/lesson/tutor.h"
#include "monitor/view/model.h"
#include "probe/wire/frame.h"

namespace idlewave::cli {

view::Lesson lesson_board(const lesson::Tutor& tutor);

/// The same for those who look on, `number` as in wire::LessonPage; and what they see of it.
wire::LessonPage page_to_show(const view::Lesson& board, std::uint64_t number);
view::Lesson shown_board(const wire::LessonPage& page);

/// Whom the page wants to be held.
std::optional<wire::Rank> rank_of_page(const lesson::Tutor& tutor);

}  // namespace idlewave::cli
