#pragma once
// What was answered and measured in a lesson, as JSON: for whoever teaches a class.

#include <string>

#include "monitor/lesson/tutor.h"
#include "workloads/support/json.h"

namespace idlewave::cli::lessons {

struct LessonRun {
  std::string lesson;  ///< The file's name, without its ending.
  std::string session;
  bool simulated = false;
  wire::Rank ranks = 0;
};

support::Json answers_json(const LessonRun& run, const lesson::Tutor& tutor);

/// Writes them; a file that is there is replaced. Error: one line.
wire::Status write_answers(const std::string& path, const LessonRun& run, const lesson::Tutor& tutor);

}  // namespace idlewave::cli::lessons
