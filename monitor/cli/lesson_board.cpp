#include "monitor/cli/lesson_board.h"

#include <algorithm>

#include "probe/words/noise.h"

namespace idlewave::cli {
namespace {

double number_of(const std::optional<lesson::Value>& value) {
  const double* number = value ? std::get_if<double>(&*value) : nullptr;
  return number ? std::max(*number, 0.0) : 0;
}

wire::LessonFigure figure_of(const lesson::Check& check, const lesson::Outcome& outcome) {
  const std::string_view unit = check.figure.figure->unit;
  wire::LessonFigure figure{.label = check.figure.heading(),
                            .before = check.before ? in_words(outcome.beside, unit) : "",
                            .now = in_words(outcome.now, unit),
                            .theory = theory_in_words(check)};
  const double before = check.before ? number_of(outcome.beside.value) : 0, now = number_of(outcome.now.value),
               theory = number_of(check.theory), longest = std::max({before, now, theory});
  if (longest > 0)
    figure.before_bar = before / longest, figure.now_bar = now / longest, figure.theory_bar = theory / longest;
  return figure;
}

/// A figure that stands beside another one has a line of its own.
std::vector<wire::LessonFigure> figures_of(const lesson::Tutor& tutor) {
  std::vector<wire::LessonFigure> figures;
  const auto& outcomes = tutor.record().outcomes;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const lesson::Check& check = tutor.page().checks[i];
    figures.push_back(figure_of(check, outcomes[i]));
    if (check.beside)
      figures.push_back(
          {.label = check.beside->heading(), .now = in_words(outcomes[i].beside, check.beside->figure->unit)});
  }
  return figures;
}

}  // namespace

view::Lesson lesson_board(const lesson::Tutor& tutor) {
  const lesson::Page& page = tutor.page();
  const bool asks = tutor.stage() == lesson::Stage::kAsk;
  view::Lesson board{.title = tutor.course().title,
                     .page = int(tutor.page_index()) + 1,
                     .pages = int(tutor.course().pages.size()),
                     .text = page.text,
                     .now = tutor.words(),
                     .figure = tutor.course().figure,
                     .source = tutor.course().source,
                     .expected = asks ? tutor.expected() : "",
                     .asks = asks,
                     .has_next = tutor.has_next(),
                     .has_previous = tutor.has_previous(),
                     .locked = tutor.locked(),
                     .premise = tutor.premise_in_words(),
                     .figures = figures_of(tutor),
                     .verdict = tutor.verdict_in_words()};
  if (!page.order) return board;
  if (const auto* hold = std::get_if<wire::DelayOrder>(&page.order->order)) board.delay = hold->duration;
  if (board.delay > wire::Nanoseconds{} && tutor.stage() == lesson::Stage::kDo) board.rank = page.order->ranks.front();
  if (const auto* noise = std::get_if<wire::NoiseOrder>(&page.order->order)) board.noise = words::to_words(*noise);
  return board;
}

wire::LessonPage page_to_show(const view::Lesson& board, std::uint64_t number) {
  return {.number = number,
          .page = board.page,
          .pages = board.pages,
          .title = board.title,
          .text = board.text,
          .now = board.now,
          .figure = board.figure,
          .source = board.source,
          .asks = board.asks,
          .figures = board.figures,
          .verdict = board.verdict};
}

view::Lesson shown_board(const wire::LessonPage& page) {
  return {.title = page.title,
          .page = page.page,
          .pages = page.pages,
          .text = page.text,
          .now = page.now,
          .figure = page.figure,
          .source = page.source,
          .asks = page.asks,
          .led = true,
          .figures = page.figures,
          .verdict = page.verdict};
}

std::optional<wire::Rank> rank_of_page(const lesson::Tutor& tutor) {
  const auto& order = tutor.page().order;
  if (!order || order->ranks.size() != 1) return std::nullopt;
  return order->ranks.front();
}

}  // namespace idlewave::cli
