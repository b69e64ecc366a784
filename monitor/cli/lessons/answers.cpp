#include "monitor/cli/lessons/answers.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace idlewave::cli::lessons {
namespace {

using support::Json;

Json value_json(const std::optional<lesson::Value>& value) {
  if (!value) return {};
  const double* number = std::get_if<double>(&*value);
  return number ? Json(*number) : Json(std::get<std::string>(*value));
}

Json number_json(std::optional<double> number) { return number ? Json(*number) : Json(); }

Json check_json(const lesson::Check& check, const lesson::Outcome* outcome) {
  const lesson::Outcome none;
  const lesson::Outcome& found = outcome ? *outcome : none;
  const bool is_number = std::holds_alternative<double>(check.theory);
  Json object;
  object["path"] = check.figure.path;
  object["unit"] = is_number ? Json(check.figure.figure->unit) : Json();
  object["theory"] = value_json(check.theory);
  object["tolerance"] = is_number ? Json(check.tolerance) : Json();
  object["measured"] = value_json(found.now.value);
  object["error"] = number_json(found.now.error);
  if (check.before || check.beside) {
    object["beside"] = check.before ? Json("before") : Json(check.beside->path);
    object["beside_measured"] = value_json(found.beside.value);
    object["beside_error"] = number_json(found.beside.error);
  }
  object["holds"] = outcome ? Json(found.holds) : Json();
  return object;
}

Json page_json(const lesson::Page& page, const lesson::PageRecord& record, int number) {
  Json object;
  object["page"] = number;
  object["question"] = page.ask ? Json(page.ask->question) : Json();
  object["unit"] = page.ask && !page.ask->unit.empty() ? Json(page.ask->unit) : Json();
  object["given"] = record.answers;
  object["answer"] = value_json(record.answer);
  object["theory"] = page.ask ? value_json(page.ask->answer) : Json();
  object["hint_shown"] = record.hinted;
  object["broken_premise"] = record.broken_premise.empty() ? Json() : Json(record.broken_premise);
  object["checks"] = Json::array();
  for (std::size_t i = 0; i < page.checks.size(); ++i)
    object["checks"].push_back(check_json(page.checks[i], i < record.outcomes.size() ? &record.outcomes[i] : nullptr));
  object["measured_at_s"] =
      record.measured_at ? Json(std::chrono::duration<double>(*record.measured_at).count()) : Json();
  object["verdict"] = record.verdict ? Json(to_words(*record.verdict)) : Json();
  return object;
}

}  // namespace

Json answers_json(const LessonRun& run, const lesson::Tutor& tutor) {
  Json object;
  object["lesson"] = run.lesson;
  object["title"] = tutor.course().title;
  object["session"] = run.session;
  object["simulated"] = run.simulated;
  object["ranks"] = run.ranks;
  object["pages"] = Json::array();
  for (std::size_t i = 0; i < tutor.records().size(); ++i)
    object["pages"].push_back(page_json(tutor.course().pages[i], tutor.records()[i], int(i) + 1));
  return object;
}

wire::Status write_answers(const std::string& path, const LessonRun& run, const lesson::Tutor& tutor) {
  errno = 0;
  std::ofstream file(path);
  file << answers_json(run, tutor).text() << "\n";
  file.close();
  if (!file.fail()) return wire::ok();
  return wire::Error{fmt::format("the answers could not be written to {}: {}", path, std::strerror(errno))};
}

}  // namespace idlewave::cli::lessons
