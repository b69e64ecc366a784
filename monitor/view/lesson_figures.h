#pragma once
// What a page of a lesson has measured: before and after side by side, with what theory says.

#include <string>
#include <vector>

#include "monitor/view/canvas.h"
#include "monitor/view/model.h"

namespace idlewave::view {

struct LessonLine {
  std::string text;
  Ink ink = Ink::kLesson;
  bool bold = false;
};

/// A heading and a line for each figure, with bars where there is room for them. Empty where there is none for the words,
/// or no figure.
std::vector<LessonLine> figure_lines(const Lesson& lesson, int columns);

}  // namespace idlewave::view
