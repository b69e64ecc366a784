#include "monitor/view/map/map_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "monitor/view/layout/moment.h"
#include "monitor/view/map/ghost_map.h"
#include "monitor/view/map/heat_map.h"
#include "monitor/view/map/map_shares.h"
#include "monitor/view/map/noises.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::map {

namespace {

using layout::Layout;
using paint::Canvas;
using paint::Ink;
using timeline::Category;
using timeline::Lane;
using timeline::LaneState;

RankRange ranks_of(const layout::RankRows& rows, const layout::MapLine& line) {
  const RankRange& top = rows.groups[static_cast<std::size_t>(line.top)];
  return {top.first, line.bottom < 0 ? top.last : rows.groups[static_cast<std::size_t>(line.bottom)].last};
}

/// Labels stand at most on every second line; every rank has one where it has two lines to itself.
std::int64_t label_step(const layout::RankRows& rows) {
  if (!rows.threads.empty()) return 1;
  const auto lines = std::ranges::count_if(rows.lines, [](const layout::MapLine& line) { return line.label_of < 0; });
  if (2 * std::ssize(rows.groups) <= lines) return 1;
  const std::int64_t ranks_per_line = 2 * std::int64_t{rows.ranks_per_group};
  return paint::round_distance(2 * ranks_per_line);
}

/// The rank that a line's label names, -1 for none.
Rank labelled_rank(const layout::RankRows& rows, const layout::MapLine& line, std::int64_t step) {
  const RankRange ranks = ranks_of(rows, line);
  if (line.domain_begins) return ranks.first;
  const std::int64_t round = (ranks.first + step - 1) / step * step;
  return round < ranks.last ? static_cast<Rank>(round) : -1;
}

const char* doing(wire::Phase phase) {
  switch (phase) {
    case wire::Phase::kCompute: return "computes";
    case wire::Phase::kWait: return "waits";
    case wire::Phase::kCommunicate: return "communicates";
    case wire::Phase::kDelay: return "is delayed";
    case wire::Phase::kNoise: return "is disturbed";
    default: return "runs";
  }
}

std::string state_now(const Lane& lane, const timeline::Timeline& timeline) {
  switch (lane.state()) {
    case LaneState::kAnnounced: return lane.is_left_out() ? "left out, no memory" : "has told nothing yet";
    case LaneState::kStopped: return "has ended";
    case LaneState::kLost: return "was lost";
    case LaneState::kLive: break;
  }
  const auto phase = lane.phase();
  return static_cast<std::uint8_t>(phase) < wire::kFirstUserPhase ? doing(phase)
                                                                  : "is in " + timeline.phase_name(phase);
}

/// What the rank's cell at the cursor holds.
timeline::Shares shares_at(const Layout& layout, const State& state, const Model& model) {
  const RankRange row{state.cursor_rank, state.cursor_rank + 1};
  const Nanoseconds at = *state.cursor_time, until = layout::shown_until(state, model);
  if (layout.steps) {
    layout::StepWindow column{.per_column = layout.steps->per_column};
    column.first =
        std::max<wire::Step>(layout::step_at(*model.timeline.lane(state.cursor_rank), at), 0) / column.per_column;
    std::array<StepShares, 1> out;
    shares_over_steps(model.timeline, {&row, 1}, column, until, out);
    return out.front().shares;
  }
  std::array<timeline::Shares, 1> out;
  shares_over_time(model.timeline, {&row, 1}, {.column = layout.window.column, .first = at / layout.window.column}, 1,
                   until, out);
  return out.front();
}

/// "waits 82 %, computes 18 %".
std::string in_words(const timeline::Shares& s) {
  if (s.known() < 0.01f) return "no data";
  std::string out;
  const std::pair<Category, const char*> words[] = {{Category::kDelay, "delayed"},
                                                    {Category::kWait, "waits"},
                                                    {Category::kCompute, "computes"},
                                                    {Category::kOther, "runs"}};
  for (const auto& [category, word] : words) {
    if (s[category] / s.known() >= 0.005f)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", word, paint::to_percent(s[category] / s.known()));
  }
  return out;
}

std::string words_at(const Layout& layout, const State& state, const Model& model) {
  const analysis::program::Ghost* ghost = ghost_shown(state, model);
  if (ghost == nullptr) return in_words(shares_at(layout, state, model));
  const std::string words = departure_in_words(*ghost, state.cursor_rank, *state.cursor_time);
  return words.empty() ? "not known of the model" : words;
}

/// A column of steps is told of at its end, as panels tell of it; one of time by its own place on the axis.
std::string cursor_moment(const Layout& layout, const State& state, const Model& model) {
  const Nanoseconds column = layout.window.column;
  if (!layout.steps) return paint::to_moment(*state.cursor_time, column);
  return "until " + paint::to_moment(layout::moment_of(state, model, layout), column);
}

/// What is under the cursor, in words; longest first.
std::vector<std::string> cursor_words(const Layout& layout, const State& state, const Model& model) {
  const Lane* lane = model.timeline.lane(state.cursor_rank);
  const std::string rank = fmt::format("rank {}", state.cursor_rank);
  if (lane == nullptr) return {rank + ": not heard of yet", rank};
  const int domain = model.timeline.domain_of(state.cursor_rank);
  const std::string place =
      domain < 0 ? rank : rank + " · " + paint::shortened_inside(model.timeline.name_of_domain(domain), 24);
  State there = state;
  there.cursor_time = layout::cursor_in_sight(state, model, layout);
  if (!there.cursor_time && !layout::shows_the_past(state, model, layout)) {
    const std::string now = state_now(*lane, model.timeline);
    return {place + " · " + now, rank + " " + now, rank};
  }
  if (!there.cursor_time)
    there.cursor_time = std::max(layout::moment_of(state, model, layout) - Nanoseconds(1), Nanoseconds{});
  const std::string at = cursor_moment(layout, there, model);
  const std::string what = words_at(layout, there, model);
  const wire::Step step = layout::step_at(*lane, *there.cursor_time);
  const std::string with_step = step == wire::kNoStep ? at : fmt::format("{} · step {}", at, step);
  return {place + " · " + with_step + " · " + what, rank + " · " + with_step + " · " + what,
          rank + " · " + at + " · " + what, rank + " · " + at, rank};
}

class LegendWriter {
 public:
  LegendWriter(Canvas& canvas, const Look& look, int y)
      : canvas_(canvas), coloured_(look.colours != ColourDepth::kNone), unicode_(look.unicode), y_(y) {}

  /// Nothing if it does not fit.
  void entry(Ink first, Ink last, std::string_view words) {
    const int swatches = static_cast<int>(last) - static_cast<int>(first) + 1;
    if (x_ + swatches + 1 + paint::columns_of(words) > canvas_.size().columns) return;
    for (int ink = static_cast<int>(first); ink <= static_cast<int>(last); ++ink) swatch(static_cast<Ink>(ink));
    x_ = canvas_.text(x_ + 1, y_, words, Ink::kText) + 2;
  }
  /// Shades with the shares at which they begin and end: a number at each end and between `parts` of them.
  void scale(int parts, float (*share_from)(int shade), std::string_view words) {
    constexpr int kShades = 8;
    for (int part = 0; part < parts; ++part) {
      x_ = canvas_.text(x_, y_, fmt::format("{:.0f} ", 100 * share_from(part * kShades / parts)), Ink::kDim);
      for (int shade = part * kShades / parts; shade < (part + 1) * kShades / parts; ++shade)
        swatch(static_cast<Ink>(static_cast<int>(Ink::kWait0) + shade));
      ++x_;
    }
    x_ = canvas_.text(x_, y_, words, Ink::kText) + 2;
  }
  /// Without a swatch; nothing if it does not fit.
  void note(std::string_view words, Ink ink) {
    if (x_ + paint::columns_of(words) <= canvas_.size().columns) x_ = canvas_.text(x_, y_, words, ink) + 2;
  }
  int x() const { return x_; }

 private:
  void swatch(Ink ink) {
    if (!coloured_)
      canvas_.put(x_++, y_, {.glyph = ink == Ink::kCompute ? U'_' : glyph_of(ink), .fg = ink});
    else if (ink == Ink::kNoData)
      canvas_.put(x_++, y_, {.glyph = unicode_ ? U'·' : U'?', .fg = ink});
    else
      canvas_.put(x_++, y_, {.glyph = U' ', .fg = Ink::kDefault, .bg = ink});
  }

  Canvas& canvas_;
  bool coloured_, unicode_;
  int x_ = 1, y_;
};

/// "1 of 8 ranks": of what the map shows where it can't ask for all; empty where it shows all.
std::string sample_words(const Layout& layout) {
  if (!layout.steps) return {};
  const auto [steps_apart, ranks_apart] = sample_of(layout.rows.groups, *layout.steps);
  std::string words;
  if (ranks_apart > 1) words = fmt::format("1 of {} ranks", ranks_apart);
  if (steps_apart > 1) words += fmt::format("{}1 of {} steps", words.empty() ? "" : ", ", steps_apart);
  return words;
}

}  // namespace

void draw_rank_axis(Canvas& canvas, const Layout& layout, const State& state) {
  const std::int64_t step = label_step(layout.rows);
  const int digits = layout.labels.width - 2;
  Rank written = -1;
  for (std::size_t i = 0; i < layout.rows.lines.size(); ++i) {
    const layout::MapLine& line = layout.rows.lines[i];
    const int y = layout.labels.y + static_cast<int>(i);
    if (line.label_of >= 0) continue;
    if (line.thread >= 0) {
      const int number = layout.rows.threads[static_cast<std::size_t>(line.thread)].thread;
      canvas.text(1, y, fmt::format("{:>{}}", fmt::format(".{}", number), digits), Ink::kDim);
      continue;
    }
    const RankRange ranks = ranks_of(layout.rows, line);
    const bool under_cursor = state.cursor_rank >= ranks.first && state.cursor_rank < ranks.last;
    const Rank rank = under_cursor ? state.cursor_rank : labelled_rank(layout.rows, line, step);
    if (under_cursor && rank != written) canvas.text(0, y, "▸", Ink::kCursor, Ink::kDefault, true);
    if (rank >= 0 && rank != written)
      canvas.text(1, y, fmt::format("{:>{}}", rank, digits), under_cursor ? Ink::kCursor : Ink::kDim, Ink::kDefault,
                  under_cursor);
    if (line.domain_begins) canvas.text(1 + digits, y, "┤", Ink::kDim);
    written = rank;
  }
}

namespace {

/// The blank between the number of a label and its unit.
bool is_within_label(const Canvas& canvas, int x, int y) {
  if (x < 1 || x + 1 >= canvas.size().columns) return false;
  const char32_t left = canvas.at(x - 1, y).glyph, right = canvas.at(x + 1, y).glyph;
  return left >= U'0' && left <= U'9' && right >= U'a' && right <= U'z';
}

/// A band between the axis' labels while ranks are disturbed by order.
void draw_noise(Canvas& canvas, const Layout& layout, const State& state, const Model& model) {
  const Nanoseconds until = layout::shown_until(state, model);
  for (const Noise& noise : noises(model.timeline)) {
    for (int x = 0; x < layout.map.width; ++x) {
      const Nanoseconds at = layout.steps ? layout::begin_of_step(model.timeline, layout.steps->begin_of(x), until)
                                          : layout.window.begin_of(x);
      const int column = layout.map.x + x;
      if (at < noise.from || at >= std::min(noise.to, until) || canvas.at(column, layout.axis).glyph != U' ') continue;
      if (is_within_label(canvas, column, layout.axis)) continue;
      canvas.put(column, layout.axis, {.glyph = U'≈', .fg = Ink::kWarning});
    }
  }
}

struct AxisMark {
  std::string_view glyph;
  Ink ink;
};

/// By their columns; where several meet, the cursor's counts most.
std::map<int, AxisMark> axis_marks(const Layout& layout, const State& state, const Model& model) {
  std::map<int, AxisMark> marks;
  const auto mark = [&](Rank rank, Nanoseconds at, std::string_view glyph, Ink ink) {
    if (const auto x = layout::column_of(layout, model.timeline, rank, at)) marks[layout.map.x + *x] = {glyph, ink};
  };
  for (const timeline::Loss& loss : model.timeline.losses()) {
    if (loss.rank < 0) mark(0, loss.from, "!", Ink::kWarning);
  }
  for (const Mark& m : state.marks) mark(m.rank, m.at, "▾", Ink::kGood);
  if (state.cursor_time) mark(state.cursor_rank, *state.cursor_time, "▴", Ink::kCursor);
  return marks;
}

}  // namespace

void draw_time_axis(Canvas& canvas, const Layout& layout, const State& state, const Model& model) {
  if (layout.axis < 0) return;
  canvas.text(0, layout.axis, "rank", Ink::kDim, Ink::kDefault, false, layout.labels.width - 1);
  // A number in whose midst one stands would be read as another number.
  const std::map<int, AxisMark> marks = axis_marks(layout, state, model);
  for (const layout::Tick& tick : layout.steps ? layout::ticks(*layout.steps) : layout::ticks(layout.window)) {
    const int x = canvas.text(layout.map.x + tick.x, layout.axis, "╵", Ink::kDim);
    const auto next = marks.lower_bound(x);
    const bool is_covered = next != marks.end() && next->first < x + paint::columns_of(tick.label);
    if (!is_covered) canvas.text(x, layout.axis, tick.label, Ink::kText);
  }
  draw_noise(canvas, layout, state, model);
  for (const auto& [column, mark] : marks) canvas.text(column, layout.axis, mark.glyph, mark.ink, Ink::kDefault, true);
}

namespace {

/// What the inks of the map stand for.
struct LegendWords {
  std::string_view calm, shades, scale, nothing, other;
  float (*share_from)(int shade);
};
constexpr LegendWords kPhaseWords{"compute", "wait", "100 % wait", "no data", "other", wait_from};
constexpr LegendWords kGhostWords{"as the model", "later", "100 % of a step later", "not known", "earlier", later_from};

}  // namespace

void draw_legend(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look& look) {
  if (layout.legend < 0) return;
  const int columns = canvas.size().columns;
  LegendWriter legend(canvas, look, layout.legend);
  const LegendWords words = ghost_shown(state, model) != nullptr ? kGhostWords : kPhaseWords;
  legend.entry(Ink::kCompute, Ink::kCompute, words.calm);
  if (columns >= 60)
    legend.scale(columns >= 120 && look.colours != ColourDepth::kNone ? 4 : 1, words.share_from, words.scale);
  else
    legend.entry(columns >= 40 ? Ink::kWait0 : Ink::kWait7, Ink::kWait7, words.shades);
  legend.entry(Ink::kDelay, Ink::kDelay, "delay");
  legend.entry(Ink::kNoData, Ink::kNoData, words.nothing);
  if (columns >= 100) legend.entry(Ink::kOther, Ink::kOther, words.other);
  if (const std::string sample = sample_words(layout); !sample.empty()) legend.note(sample, Ink::kWarning);
  const int room = columns - legend.x() - 1;
  const std::string cursor = paint::longest_fitting(cursor_words(layout, state, model), room);
  canvas.text(columns - 1 - paint::columns_of(cursor), layout.legend, cursor, Ink::kCursor);
}

}  // namespace idlewave::view::map
