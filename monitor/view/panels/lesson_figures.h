#pragma once
// What a page of a lesson has measured: before and after side by side, with what theory says.

#include <string>
#include <vector>

#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"

namespace idlewave::view::panels {

struct LessonLine {
  std::string text;
  paint::Ink ink = paint::Ink::kLesson;
  bool bold = false;
};

/// A heading and a line for each figure, with bars where there is room for them. Empty where there is none for the words,
/// or no figure.
std::vector<LessonLine> figure_lines(const Lesson& lesson, int columns);

}  // namespace idlewave::view::panels
