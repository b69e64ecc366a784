#include "monitor/view/map/heat_map.h"

#include <algorithm>
#include <string_view>

#include "monitor/view/layout/moment.h"
#include "monitor/view/map/fronts.h"
#include "monitor/view/map/ghost_map.h"
#include "monitor/view/map/map_shares.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::map {

namespace {

using paint::Ink;
using timeline::Category;
using timeline::Lane;
using timeline::LaneState;

constexpr std::string_view kRamp = " .:-=+*#";
constexpr float kDelayShows = 1.0f / 8;  // Injected noise of a few per cent stays below.
// The exchange itself and its jitter, with nobody late, is a tenth of a step and more: lockstep stays calm.
constexpr float kWaitShows = 0.15f;
constexpr int kShades = 8;
constexpr float kKnownEnough = 0.5f;
constexpr std::size_t kRanksOfALabelledFront = 4;
constexpr std::size_t kGroupsForAFront = 8;  ///< A lower map would be all front.

/// What the cells mean, before half blocks and glyphs.
class Grid {
 public:
  Grid(int groups, int columns)
      : columns_(columns), inks_(static_cast<std::size_t>(groups) * static_cast<std::size_t>(columns), Ink::kDefault) {}
  Ink& at(int group, int x) {
    return inks_[static_cast<std::size_t>(group) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x)];
  }
  int columns() const { return columns_; }

 private:
  int columns_;
  std::vector<Ink> inks_;
};

/// A glyph over a cell.
struct Overlay {
  int group = 0;
  int x = 0;
  char32_t glyph = U' ';
  Ink ink = Ink::kWaveMark;
};

/// When all ranks of a group have fallen silent for good, and whether one of them was lost.
struct Silence {
  bool all = true;
  bool lost = false;
  Nanoseconds from{};
  Rank rank = 0;  ///< The last one.
};

Silence silence_of(const timeline::Timeline& timeline, const RankRange& ranks) {
  Silence out;
  for (Rank rank = ranks.first; rank < ranks.last; ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (lane == nullptr || lane->state() == LaneState::kAnnounced || lane->state() == LaneState::kLive) {
      out.all = false;
      continue;
    }
    out.lost |= lane->state() == LaneState::kLost;
    if (lane->last() >= out.from) out.rank = rank;
    out.from = std::max(out.from, lane->last());
  }
  return out;
}

class MapPainter {
 public:
  MapPainter(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
             const Look& look)
      : canvas_(canvas),
        layout_(layout),
        state_(state),
        timeline_(model.timeline),
        model_(model),
        look_(look),
        until_(layout::shown_until(state, model)),
        grid_(static_cast<int>(layout.rows.groups.size()), layout.map.width),
        threads_(static_cast<int>(layout.rows.threads.size()), layout.map.width) {}

  void paint() {
    fill();
    fill_threads();
    end_silent_ranks();
    mark_waves();
    show_delays();
    mark_losses();
    for (std::size_t i = 0; i < layout_.rows.lines.size(); ++i)
      paint_line(layout_.rows.lines[i], layout_.map.y + static_cast<int>(i));
    for (const Overlay& overlay : overlays_) paint_overlay(overlay);
    label_fronts();
    paint_cursor();
  }

 private:
  const layout::TimeWindow& window() const { return layout_.window; }

  /// Columns that have begun.
  int begun_columns() const {
    if (until_ <= window().from()) return 0;
    const auto newest = window().x_of(until_ - Nanoseconds(1));
    return static_cast<int>(std::clamp<std::int64_t>(newest + 1, 0, window().columns));
  }

  int begun_steps() const {
    const auto newest = layout_.steps->x_of(layout::latest_step_at(timeline_, until_));
    return static_cast<int>(std::clamp<std::int64_t>(newest + 1, 0, layout_.steps->columns));
  }

  float elapsed(int x) const {
    const Nanoseconds past = std::min(until_, window().begin_of(x + 1)) - window().begin_of(x);
    return static_cast<float>(past.count()) / static_cast<float>(window().column.count());
  }

  void fill() {
    const analysis::program::Ghost* ghost = ghost_shown(state_, model_);
    if (ghost != nullptr) return fill_by_ghost(*ghost);
    layout_.steps ? fill_by_steps() : fill_by_time();
  }

  void fill_by_ghost(const analysis::program::Ghost& ghost) {
    const int begun = layout_.steps ? begun_steps() : begun_columns();
    std::vector<DepartureCell> cells(layout_.rows.groups.size() * static_cast<std::size_t>(layout_.map.width));
    if (layout_.steps)
      departures_over_steps(ghost, layout_.rows.groups, *layout_.steps, cells);
    else
      departures_over_time(ghost, layout_.rows.groups, window(), cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const int x = static_cast<int>(i) % layout_.map.width;
      if (x < begun) grid_.at(static_cast<int>(i) / layout_.map.width, x) = ink_of(cells[i]);
    }
  }

  void fill_by_time() {
    const int columns = begun_columns();
    const auto groups = layout_.rows.groups.size();
    if (columns == 0 || groups == 0) return;
    std::vector<timeline::Shares> shares(groups * static_cast<std::size_t>(columns));
    shares_over_time(timeline_, layout_.rows.groups, window(), columns, until_, shares);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const int x = static_cast<int>(i) % columns;
      grid_.at(static_cast<int>(i) / columns, x) = ink_of(shares[i], elapsed(x));
    }
  }

  /// Where nothing is known of one there is none: what was lost is marked on its rank.
  void fill_threads() {
    const int columns = begun_columns();
    const auto& threads = layout_.rows.threads;
    if (columns == 0 || threads.empty()) return;
    std::vector<timeline::Shares> shares(threads.size() * static_cast<std::size_t>(columns));
    timeline_.picture(threads, window().from(), window().begin_of(columns), columns, shares);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const int x = static_cast<int>(i) % columns;
      const Ink ink = ink_of(shares[i], elapsed(x));
      threads_.at(static_cast<int>(i) / columns, x) = ink == Ink::kNoData ? Ink::kDefault : ink;
    }
  }

  void fill_by_steps() {
    const auto columns = static_cast<std::size_t>(layout_.steps->columns);
    std::vector<StepShares> cells(layout_.rows.groups.size() * columns);
    shares_over_steps(timeline_, layout_.rows.groups, *layout_.steps, until_, cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].begun)
        grid_.at(static_cast<int>(i / columns), static_cast<int>(i % columns)) = ink_of(cells[i].shares, 1);
    }
  }

  /// After its proper end a rank has nothing more to tell; after its loss it would have had.
  void end_silent_ranks() {
    for (std::size_t g = 0; g < layout_.rows.groups.size(); ++g) {
      const Silence silence = silence_of(timeline_, layout_.rows.groups[g]);
      if (silence.lost) add_overlay(silence.from, silence.rank, U'×', Ink::kError);
      if (silence.all && !silence.lost && !layout_.steps) clear_after(static_cast<int>(g), silence.from);
    }
  }

  void clear_after(int group, Nanoseconds end) {
    const int columns = begun_columns();
    for (auto x = std::max<std::int64_t>(window().x_of(end) + 1, 0); x < columns; ++x)
      grid_.at(group, static_cast<int>(x)) = Ink::kDefault;
  }

  /// However small its share of the cell, a delay is never averaged away.
  void show_delays() {
    for (const timeline::Delay& delay : timeline_.delays()) {
      if (delay.phase != wire::Phase::kDelay || delay.begin >= until_) continue;
      const int group = group_of(layout_.rows, delay.rank);
      if (group < 0) continue;
      layout_.steps ? show_delay_in_step(delay, group) : show_delay_in_time(delay, group);
      add_overlay(delay.begin, delay.rank, U'◆', Ink::kWaveMark);
    }
  }

  void show_delay_in_time(const timeline::Delay& delay, int group) {
    const Nanoseconds end = std::min(delay.ended ? delay.end.session_time() : until_, until_);
    if (end <= window().from() || delay.begin >= window().to()) return;
    const auto last = std::min<std::int64_t>(window().x_of(end - Nanoseconds(1)), begun_columns() - 1);
    for (auto x = std::max<std::int64_t>(window().x_of(delay.begin), 0); x <= last; ++x)
      grid_.at(group, static_cast<int>(x)) = Ink::kDelay;
  }

  void show_delay_in_step(const timeline::Delay& delay, int group) {
    if (const auto x = layout::column_of(layout_, timeline_, delay.rank, delay.begin))
      grid_.at(group, *x) = Ink::kDelay;
  }

  void mark_waves() {
    for (const analysis::waves::Wave& wave : model_.findings.waves) {
      if (is_unannounced(wave.cause)) add_overlay(wave.start, wave.origin_rank, U'◆', Ink::kWaveMark);
      for (const analysis::waves::WaveDirection* direction : {&wave.up, &wave.down}) {
        if (direction->front.empty() || direction->end == analysis::waves::WaveEnd::kRunning) continue;
        const analysis::waves::FrontPoint& last = direction->front.back();
        add_overlay(last.arrival, last.rank, U'×', Ink::kWaveMark);
      }
    }
    drawn_wave_ = wave_to_draw(layout_, state_, model_);
    if (drawn_wave_ == nullptr || layout_.rows.groups.size() < kGroupsForAFront) return;
    for (const analysis::waves::WaveDirection* direction : {&drawn_wave_->up, &drawn_wave_->down})
      for (std::size_t i = 0; i + 1 < direction->front.size(); ++i)
        add_overlay(direction->front[i].arrival, direction->front[i].rank, direction->sign > 0 ? U'╲' : U'╱',
                    Ink::kWaveMark);
  }

  /// How far and how fast, beside the middle of the front: before it, where the map is calm, if there is room.
  void label_fronts() {
    if (drawn_wave_ == nullptr || layout_.rows.groups.size() < kGroupsForAFront) return;
    for (const analysis::waves::WaveDirection* direction : {&drawn_wave_->up, &drawn_wave_->down}) {
      if (direction->front.size() < kRanksOfALabelledFront) continue;
      const analysis::waves::FrontPoint& middle = direction->front[direction->front.size() / 2];
      const auto x = layout::column_of(layout_, timeline_, middle.rank, middle.arrival);
      const int y = line_of(group_of(layout_.rows, middle.rank));
      const std::string words = " " + front_in_words(*direction) + " ";
      if (!x || y < 0 || middle.arrival >= until_) continue;
      const int before = *x - paint::columns_of(words) - 1, after = *x + 2;
      if (before >= 0 || after + paint::columns_of(words) <= layout_.map.width)
        canvas_.text(layout_.map.x + (before >= 0 ? before : after), y, words, Ink::kText);
    }
  }

  void mark_losses() {
    for (const timeline::Loss& loss : timeline_.losses()) {
      if (loss.rank >= 0 && loss.kind != timeline::LossKind::kRankLost)
        add_overlay(loss.from, loss.rank, U'!', Ink::kWarning);
    }
  }

  void add_overlay(Nanoseconds at, Rank rank, char32_t glyph, Ink ink) {
    const int group = group_of(layout_.rows, rank);
    if (group < 0 || at >= until_) return;
    if (const auto x = layout::column_of(layout_, timeline_, rank, at)) overlays_.push_back({group, *x, glyph, ink});
  }

  void paint_line(const layout::MapLine& line, int y) {
    if (line.label_of >= 0) return paint_label(line.label_of, y);
    for (int x = 0; x < layout_.map.width; ++x) {
      if (line.thread >= 0) {
        const Ink ink = threads_.at(line.thread, x);
        canvas_.put(layout_.map.x + x, y, cell_of(ink, ink));
        continue;
      }
      const Ink top = grid_.at(line.top, x);
      const Ink bottom = line.bottom < 0 ? Ink::kDefault : grid_.at(line.bottom, x);
      canvas_.put(layout_.map.x + x, y, cell_of(top, bottom));
    }
  }

  paint::Cell cell_of(Ink top, Ink bottom) const {
    if (look_.colours == ColourDepth::kNone) return {.glyph = glyph_of(top), .fg = top};
    const bool half_is_empty = top == Ink::kDefault || bottom == Ink::kDefault;
    const bool no_data = top == Ink::kNoData || bottom == Ink::kNoData;
    if (top != bottom && !(half_is_empty && no_data)) return half_cell(top, bottom);
    if (no_data) return {.glyph = look_.unicode ? U'·' : U'?', .fg = Ink::kNoData};
    if (!look_.unicode && (top == Ink::kDelay || top == Ink::kOther))
      return {.glyph = glyph_of(top), .fg = Ink::kDefault, .bg = top};
    return {.glyph = U' ', .fg = Ink::kDefault, .bg = top};
  }

  /// The half that has a colour is drawn on the ground of the other, so that what lies in the future stays the
  /// terminal's own.
  static paint::Cell half_cell(Ink top, Ink bottom) {
    if (top == Ink::kDefault) return {.glyph = U'▄', .fg = bottom, .bg = top};
    return {.glyph = U'▀', .fg = top, .bg = bottom};
  }

  void paint_label(int domain, int y) {
    const int from = layout_.labels.x + 1, to = layout_.map.x + layout_.map.width;
    canvas_.fill(from, y, to - from, 1, {.glyph = U'─', .fg = Ink::kDim});
    const int x = canvas_.text(from + 2, y, " " + timeline_.name_of_domain(domain), Ink::kText, Ink::kDefault, false,
                               to - from - 4);
    canvas_.text(x, y, " ", Ink::kText);
  }

  void paint_overlay(const Overlay& overlay) {
    const Ink under = grid_.at(overlay.group, overlay.x);
    const Ink bg = look_.colours == ColourDepth::kNone || under == Ink::kNoData ? Ink::kDefault : under;
    const int y = line_of(overlay.group);
    if (y >= 0)
      canvas_.put(layout_.map.x + overlay.x, y, {.glyph = overlay.glyph, .fg = overlay.ink, .bg = bg, .bold = true});
  }

  /// The first that is the group's alone, else the first that it shares; -1 without any.
  int line_of(int group) const {
    int shared = -1;
    for (std::size_t i = 0; i < layout_.rows.lines.size() && group >= 0; ++i) {
      const layout::MapLine& line = layout_.rows.lines[i];
      if (line.label_of >= 0 || line.thread >= 0 || (line.top != group && line.bottom != group)) continue;
      const int y = layout_.map.y + static_cast<int>(i);
      if (line.top == line.bottom) return y;
      if (shared < 0) shared = y;
    }
    return shared;
  }

  void paint_cursor() {
    const int group = group_of(layout_.rows, state_.cursor_rank);
    if (!state_.cursor_time || group < 0) return;
    const auto column = layout::column_of(layout_, timeline_, state_.cursor_rank, *state_.cursor_time);
    const int y = line_of(group);
    if (!column || y < 0) return;
    const int x = layout_.map.x + *column;
    paint::Cell cell = canvas_.at(x, y);
    if (look_.colours == ColourDepth::kNone) {
      cell.reverse = true;
    } else {
      cell = {.glyph = U'┼', .fg = Ink::kCursor, .bg = grid_.at(group, x - layout_.map.x), .bold = true};
    }
    canvas_.put(x, y, cell);
  }

  paint::Canvas& canvas_;
  const layout::Layout& layout_;
  const State& state_;
  const timeline::Timeline& timeline_;
  const Model& model_;
  const Look& look_;
  const Nanoseconds until_;
  Grid grid_;
  Grid threads_;  ///< Of layout.rows.threads.
  std::vector<Overlay> overlays_;
  const analysis::waves::Wave* drawn_wave_ = nullptr;
};

}  // namespace

Ink ink_of(const timeline::Shares& shares, float elapsed) {
  const float known = shares.known();
  if (shares[Category::kDelay] > kDelayShows * elapsed) return Ink::kDelay;
  if (known < kKnownEnough * elapsed || known <= 0) return Ink::kNoData;
  const float wait = shares[Category::kWait] / known;
  const float other = shares[Category::kOther] / known;
  if (other > 0.5f && other > wait) return Ink::kOther;
  if (wait < kWaitShows) return Ink::kCompute;
  const int shade = static_cast<int>((wait - kWaitShows) / (1 - kWaitShows) * kShades);
  return static_cast<Ink>(static_cast<int>(Ink::kWait0) + std::min(shade, kShades - 1));
}

float wait_from(int shade) { return kWaitShows + (1 - kWaitShows) * static_cast<float>(shade) / kShades; }

char32_t glyph_of(Ink ink) {
  if (ink >= Ink::kWait0 && ink <= Ink::kWait7)
    return static_cast<char32_t>(kRamp[static_cast<std::size_t>(ink) - static_cast<std::size_t>(Ink::kWait0)]);
  switch (ink) {
    case Ink::kDelay: return U'D';
    case Ink::kNoData: return U'?';
    case Ink::kOther: return U'o';
    default: return U' ';
  }
}

int group_of(const layout::RankRows& rows, Rank rank) {
  const auto after = std::upper_bound(rows.groups.begin(), rows.groups.end(), rank,
                                      [](Rank r, const RankRange& group) { return r < group.first; });
  if (after == rows.groups.begin() || rank >= std::prev(after)->last) return -1;
  return static_cast<int>(std::prev(after) - rows.groups.begin());
}

void draw_heat_map(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
                   const Look& look) {
  MapPainter(canvas, layout, state, model, look).paint();
}

}  // namespace idlewave::view::map
