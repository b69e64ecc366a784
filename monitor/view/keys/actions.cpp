#include "monitor/view/keys/actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/keys/forms.h"
#include "monitor/view/layout/moment.h"
#include "monitor/view/layout/movement.h"
#include "monitor/view/map/fronts.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/panels/lesson_page.h"
#include "monitor/view/panels/panels.h"

namespace idlewave::view::keys::actions {

namespace {

using layout::Turn;

/// Whether the operator may hold ranks, or at least let go of them; says why not.
bool may_command(Turn& turn, bool clears = false) {
  const auto& reason = turn.model.session.no_command;
  if (!reason || (clears && !wire::forbids_clearing(*reason))) return true;
  turn.say(wire::to_words(*reason), Tone::kWarning);
  return false;
}

constexpr const char* kIsLed = "whoever gives the lesson turns its pages";

/// Whether the lesson has come so far that something may be ordered; says why not. Of a premise that does not hold it warns
/// once.
bool lesson_allows(Turn& turn) {
  const auto& lesson = turn.model.session.lesson;
  if (!lesson) return true;
  if (!lesson->locked.empty()) return turn.say(lesson->locked, Tone::kWarning), false;
  if (lesson->premise.empty() || turn.state.premise_waived == lesson->page) return true;
  turn.state.premise_waived = lesson->page;
  turn.say(lesson->premise + " The same key again goes on all the same.", Tone::kWarning);
  return false;
}

/// Up and down in the panel that has the focus; on the map if the screen has become too small for that panel.
void scroll(Turn& turn, int lines) {
  const PanelKey panel = turn.layout.shows(turn.state.focus) ? turn.state.focus : kMapKey;
  panels::panel_of(panel).scroll(turn.state, turn.model, lines);
}

void focus_next(Turn& turn, int direction) {
  const auto all = panels::all_panels();
  const int count = static_cast<int>(all.size());
  int index = static_cast<int>(&panels::panel_of(turn.state.focus) - all.data());
  for (int i = 0; i < count; ++i) {
    index = (index + direction + count) % count;
    const PanelKey key = all[static_cast<std::size_t>(index)].key;
    if (turn.layout.shows(key)) return static_cast<void>(turn.state.focus = key);
  }
}

/// Some are there only while they have the focus.
bool would_be_shown(const Turn& turn, PanelKey panel) {
  State focused = turn.state;
  focused.focus = panel;
  return layout::lay_out(panels::all_panels(), focused, turn.model, turn.size, turn.look).shows(panel);
}

}  // namespace

void quit(Turn& turn) {
  if (turn.model.session.ends_with_us.empty()) {
    turn.effects.emplace_back(Quit{});
    return;
  }
  turn.state.form = Form{.kind = FormKind::kQuit};
}

void detach(Turn& turn) {
  if (turn.model.session.replay) return turn.say("a replay has no program that could go on: q quits", Tone::kWarning);
  if (!turn.model.session.can_detach)
    return turn.say("what this screen has started ends with it: q quits", Tone::kWarning);
  turn.effects.emplace_back(Detach{});
}

void help(Turn& turn) {
  turn.state.help = true;
  turn.state.help_scroll = 0;
}

void pause(Turn& turn) {
  State& state = turn.state;
  state.paused_at = layout::shown_until(state, turn.model);
  state.paused = !state.paused;
  if (turn.model.session.replay) turn.effects.emplace_back(ReplayPause{state.paused});
}

void earlier(Turn& turn) { layout::move_in_time(turn, -1); }
void later(Turn& turn) { layout::move_in_time(turn, 1); }
void up(Turn& turn) { scroll(turn, -1); }
void down(Turn& turn) { scroll(turn, 1); }
void page_earlier(Turn& turn) { layout::move_window(turn, -std::max(turn.layout.window.columns / 2, 1)); }
void page_later(Turn& turn) { layout::move_window(turn, std::max(turn.layout.window.columns / 2, 1)); }
void oldest(Turn& turn) { layout::visit_time(turn, turn.model.timeline.begin()); }

void follow(Turn& turn) {
  turn.state.follow = true;
  turn.state.cursor_time.reset();
}

void axis(Turn& turn) {
  layout::change_axis(turn);
  turn.say(turn.state.by_steps ? "columns are steps of each rank; a goes back to time" : "columns are time");
}

void ghost(Turn& turn) {
  turn.state.ghost = !turn.state.ghost;
  turn.say(turn.state.ghost ? "colours: how far ranks leave the program's model, once known; G goes back"
                            : "colours: what ranks do");
}

void threads(Turn& turn) {
  State& state = turn.state;
  state.threads = !state.threads;
  if (!state.threads) return turn.say("threads are folded under their ranks");
  if (!turn.model.timeline.has_threads())
    return turn.say("no thread has a lane: none calls MPI or reports beside the main one of its rank");
  if (state.by_steps || state.ghost) return turn.say("threads are shown over time: a, or G, goes back to that");
  const bool fits =
      !layout::lay_out(panels::all_panels(), state, turn.model, turn.size, turn.look).rows.threads.empty();
  turn.say(fits ? "a line for each thread, below its rank; t folds them"
                : "there is no room for threads: ] shows fewer ranks, / only some");
}

void finer(Turn& turn) { layout::change_zoom(turn, -1); }
void coarser(Turn& turn) { layout::change_zoom(turn, 1); }
void more_ranks(Turn& turn) { layout::change_rank_zoom(turn, false); }
void fewer_ranks(Turn& turn) { layout::change_rank_zoom(turn, true); }

void next_wave(Turn& turn) {
  const auto& waves = turn.model.findings.waves;
  if (waves.empty())
    return turn.say(may_hold(turn.model.session) ? "no idle wave has been seen yet: i injects a delay"
                                                 : "no idle wave has been seen yet");
  const Nanoseconds until = layout::shown_until(turn.state, turn.model), column = turn.layout.window.column;
  auto next = std::prev(waves.end());
  while (next != waves.begin() && next->start >= until) --next;
  if (const auto here = turn.state.cursor_time) {
    const auto is_later = [&](const analysis::waves::Wave& wave) {
      return wave.start >= column * (*here / column + 1) && wave.start < until;
    };
    next = std::find_if(waves.begin(), waves.end(), is_later);
    if (next == waves.end()) next = waves.begin();
  }
  layout::visit_rank(turn.state, next->origin_rank, turn.model.timeline.ranks());
  layout::visit_time(turn, next->start);
  turn.say(fmt::format("wave {} of {}: {}", next - waves.begin() + 1, waves.size(), map::in_words(*next)));
}

void go_to(Turn& turn) { turn.state.form = Form{.kind = FormKind::kGoto}; }
void filter(Turn& turn) { turn.state.form = filter_form(turn.state); }
void focus(Turn& turn) {
  const layout::Panel& panel = panels::panel_of(turn.key.character);
  if (!would_be_shown(turn, panel.key))
    return turn.say(fmt::format("the panel '{}' is not on this screen", panel.name), Tone::kWarning);
  turn.state.focus = panel.key;
}

void next_panel(Turn& turn) { focus_next(turn, 1); }
void previous_panel(Turn& turn) { focus_next(turn, -1); }

void lesson_on(Turn& turn) {
  const auto& lesson = turn.model.session.lesson;
  if (!lesson) return;
  if (lesson->led) return turn.say(kIsLed);
  if (!lesson->expected.empty())
    return static_cast<void>(turn.state.form = Form{.kind = FormKind::kAnswer, .untouched = false});
  if (!lesson->has_next) return turn.say("no page of the lesson is open behind this one");
  turn.effects.emplace_back(TurnLesson{1});
}

void lesson_back(Turn& turn) {
  const auto& lesson = turn.model.session.lesson;
  if (!lesson) return;
  if (lesson->led) return turn.say(kIsLed);
  if (!lesson->has_previous) return turn.say("this is the first page of the lesson");
  turn.effects.emplace_back(TurnLesson{-1});
}

void lesson_page(Turn& turn) {
  if (!turn.model.session.lesson) return turn.say("this session is no lesson: idlewave demo --list names them");
  turn.state.lesson_open = !turn.state.lesson_open;
  turn.state.scrolled[panels::kLessonKey] = 0;
}

void inject(Turn& turn) {
  if (!may_command(turn) || !lesson_allows(turn)) return;
  // The page names a rank, and one may have looked at others since.
  const auto& lesson = turn.model.session.lesson;
  if (lesson && lesson->rank >= 0) layout::visit_rank(turn.state, lesson->rank, turn.model.timeline.ranks());
  const Rank rank = turn.state.cursor_rank;
  if (turn.model.timeline.lane(rank) == nullptr)
    return turn.say(fmt::format("rank {} has not been heard of yet", rank), Tone::kWarning);
  turn.state.form = inject_form(rank, turn.model);
}

void noise(Turn& turn) {
  if (!may_command(turn) || !lesson_allows(turn)) return;
  const auto& lesson = turn.model.session.lesson;
  turn.state.form =
      Form{.kind = FormKind::kNoise, .text = lesson && !lesson->noise.empty() ? lesson->noise : "exp:0.5ms"};
}

void clear(Turn& turn) {
  if (!may_command(turn, true)) return;
  turn.effects.emplace_back(SendCommand{{.ranks = {}, .order = wire::ClearOrder{}}});
  turn.say("asked all ranks to end noise and delays, and to let go of those that are held");
}

void mark(Turn& turn) {
  State& state = turn.state;
  const Nanoseconds at =
      layout::cursor_in_sight(state, turn.model, turn.layout)
          .value_or(std::max(layout::shown_until(state, turn.model) - Nanoseconds(1), Nanoseconds::zero()));
  state.marks.push_back({at, state.cursor_rank});
  turn.say(fmt::format("marked {} on the time axis", paint::to_moment(at, turn.layout.window.column)), Tone::kGood);
}

void record(Turn& turn) {
  if (turn.model.session.replay) return turn.say("this is a recording already", Tone::kWarning);
  if (turn.model.session.recording.on) {
    turn.effects.emplace_back(StopRecording{});
  } else {
    turn.effects.emplace_back(StartRecording{});
  }
}

void save(Turn& turn) { turn.effects.emplace_back(SaveScreen{}); }

void click(Turn& turn) {
  const layout::Box& map = turn.layout.map;
  if (!map.holds(turn.key.x, turn.key.y)) return;
  const auto line = static_cast<std::size_t>(turn.key.y - map.y);
  if (line >= turn.layout.rows.lines.size() || turn.layout.rows.lines[line].label_of >= 0) return;
  const auto group = static_cast<std::size_t>(turn.layout.rows.lines[line].top);
  turn.state.focus = kMapKey;
  layout::visit_rank(turn.state, turn.layout.rows.groups[group].first, turn.model.timeline.ranks());
  layout::visit_column(turn, turn.key.x - map.x);
}

}  // namespace idlewave::view::keys::actions
