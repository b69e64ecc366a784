#include "monitor/cli/lesson_board.h"

#include "probe/words/noise.h"

namespace idlewave::cli {

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
                     .has_next = tutor.has_next(),
                     .has_previous = tutor.has_previous(),
                     .locked = tutor.locked(),
                     .premise = tutor.premise_in_words()};
  if (!page.order) return board;
  if (const auto* hold = std::get_if<wire::DelayOrder>(&page.order->order)) board.delay = hold->duration;
  if (board.delay > Nanoseconds{} && tutor.stage() == lesson::Stage::kDo) board.rank = page.order->ranks.front();
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
          .source = board.source};
}

view::Lesson shown_board(const wire::LessonPage& page) {
  return {.title = page.title,
          .page = page.page,
          .pages = page.pages,
          .text = page.text,
          .now = page.now,
          .figure = page.figure,
          .source = page.source,
          .led = true};
}

std::optional<wire::Rank> rank_of_page(const lesson::Tutor& tutor) {
  const auto& order = tutor.page().order;
  if (!order || order->ranks.size() != 1) return std::nullopt;
  return order->ranks.front();
}

}  // namespace idlewave::cli
