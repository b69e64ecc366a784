#include "monitor/view/heat_map.h"

#include <algorithm>
#include <string_view>

namespace idlewave::view {

namespace {

using timeline::Category;
using timeline::Lane;
using timeline::LaneState;

constexpr std::string_view kRamp = " .:-=+*#";
constexpr float kDelayShows = 1.0f / 8;  // Injected noise of a few per cent stays below.
constexpr float kWaitShows = 0.08f;      // The exchange itself and its jitter, with nobody late: lockstep stays calm.
constexpr float kKnownEnough = 0.5f;

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
    out.from = std::max(out.from, lane->last());
  }
  return out;
}

class MapPainter {
 public:
  MapPainter(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look& look)
      : canvas_(canvas),
        layout_(layout),
        state_(state),
        timeline_(model.timeline),
        model_(model),
        look_(look),
        until_(shown_until(state, model)),
        grid_(static_cast<int>(layout.rows.groups.size()), layout.map.width) {}

  void paint() {
    fill_from_shares();
    end_silent_ranks();
    show_delays();
    mark_waves();
    mark_losses();
    for (std::size_t i = 0; i < layout_.rows.lines.size(); ++i)
      paint_line(layout_.rows.lines[i], layout_.map.y + static_cast<int>(i));
    for (const Overlay& overlay : overlays_) paint_overlay(overlay);
    paint_cursor();
  }

 private:
  const TimeWindow& window() const { return layout_.window; }

  /// Columns that have begun.
  int begun_columns() const {
    if (until_ <= window().from()) return 0;
    const auto newest = window().x_of(until_ - Nanoseconds(1));
    return static_cast<int>(std::clamp<std::int64_t>(newest + 1, 0, window().columns));
  }

  float elapsed(int x) const {
    const Nanoseconds past = std::min(until_, window().begin_of(x + 1)) - window().begin_of(x);
    return static_cast<float>(past.count()) / static_cast<float>(window().column.count());
  }

  void fill_from_shares() {
    const int columns = begun_columns();
    const auto groups = layout_.rows.groups.size();
    if (columns == 0 || groups == 0) return;
    std::vector<timeline::Shares> shares(groups * static_cast<std::size_t>(columns));
    timeline_.picture(layout_.rows.groups, window().from(), window().begin_of(columns), columns, shares);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const int x = static_cast<int>(i) % columns;
      grid_.at(static_cast<int>(i) / columns, x) = ink_of(shares[i], elapsed(x));
    }
  }

  /// After its proper end a rank has nothing more to tell; after its loss it would have had.
  void end_silent_ranks() {
    const int columns = begun_columns();
    for (std::size_t g = 0; g < layout_.rows.groups.size(); ++g) {
      const Silence silence = silence_of(timeline_, layout_.rows.groups[g]);
      if (silence.lost) add_overlay(silence.from, static_cast<int>(g), U'×', Ink::kError);
      if (!silence.all || silence.lost) continue;
      const auto begin = std::max<std::int64_t>(window().x_of(silence.from) + 1, 0);
      for (auto x = begin; x < columns; ++x) grid_.at(static_cast<int>(g), static_cast<int>(x)) = Ink::kDefault;
    }
  }

  /// However small its share of the cell, a delay is never averaged away.
  void show_delays() {
    for (const timeline::Delay& delay : timeline_.delays()) {
      const Nanoseconds end = std::min(delay.ended ? delay.end.session_time() : until_, until_);
      if (delay.phase != wire::Phase::kDelay || end <= window().from() ||
          delay.begin >= std::min(window().to(), until_))
        continue;
      const int group = group_of(layout_.rows, delay.rank);
      if (group < 0) continue;
      const auto last = std::min<std::int64_t>(window().x_of(end - Nanoseconds(1)), begun_columns() - 1);
      for (auto x = std::max<std::int64_t>(window().x_of(delay.begin), 0); x <= last; ++x)
        grid_.at(group, static_cast<int>(x)) = Ink::kDelay;
      add_overlay(delay.begin, group, U'◆', Ink::kWaveMark);
    }
  }

  void mark_waves() {
    for (const analysis::Wave& wave : model_.findings.waves) {
      if (is_unannounced(wave.cause))
        add_overlay(wave.start, group_of(layout_.rows, wave.origin_rank), U'◆', Ink::kWaveMark);
      for (const analysis::WaveDirection* direction : {&wave.up, &wave.down}) {
        if (direction->front.empty() || direction->end == analysis::WaveEnd::kRunning) continue;
        const analysis::FrontPoint& last = direction->front.back();
        add_overlay(last.arrival, group_of(layout_.rows, last.rank), U'×', Ink::kWaveMark);
      }
    }
  }

  void mark_losses() {
    for (const timeline::Loss& loss : timeline_.losses()) {
      if (loss.rank >= 0 && loss.kind != timeline::LossKind::kRankLost)
        add_overlay(loss.from, group_of(layout_.rows, loss.rank), U'!', Ink::kWarning);
    }
  }

  void add_overlay(Nanoseconds at, int group, char32_t glyph, Ink ink) {
    if (group >= 0 && window().shows(at) && at < until_)
      overlays_.push_back({group, static_cast<int>(window().x_of(at)), glyph, ink});
  }

  void paint_line(const MapLine& line, int y) {
    if (line.label_of >= 0) return paint_label(line.label_of, y);
    for (int x = 0; x < layout_.map.width; ++x) {
      const Ink top = grid_.at(line.top, x);
      const Ink bottom = line.bottom < 0 ? Ink::kDefault : grid_.at(line.bottom, x);
      canvas_.put(layout_.map.x + x, y, cell_of(top, bottom));
    }
  }

  Cell cell_of(Ink top, Ink bottom) const {
    if (look_.colours == ColourDepth::kNone) return {.glyph = glyph_of(top), .fg = top};
    if (top != bottom) return half_cell(top, bottom);
    if (top == Ink::kNoData) return {.glyph = look_.unicode ? U'·' : U'?', .fg = Ink::kNoData};
    if (!look_.unicode && (top == Ink::kDelay || top == Ink::kOther))
      return {.glyph = glyph_of(top), .fg = Ink::kDefault, .bg = top};
    return {.glyph = U' ', .fg = Ink::kDefault, .bg = top};
  }

  /// The half that has a colour is drawn on the ground of the other, so that what lies in the future stays the
  /// terminal's own.
  static Cell half_cell(Ink top, Ink bottom) {
    if (top == Ink::kDefault) return {.glyph = U'▄', .fg = bottom, .bg = top};
    return {.glyph = U'▀', .fg = top, .bg = bottom};
  }

  void paint_label(int domain, int y) {
    const timeline::Domain& d = timeline_.domains()[static_cast<std::size_t>(domain)];
    const int from = layout_.labels.x + 1, to = layout_.map.x + layout_.map.width;
    canvas_.fill(from, y, to - from, 1, {.glyph = U'─', .fg = Ink::kDim});
    const int x = canvas_.text(from + 2, y, " " + d.info.label, Ink::kText, Ink::kDefault, false, to - from - 4);
    canvas_.text(x, y, " ", Ink::kText);
  }

  void paint_overlay(const Overlay& overlay) {
    const Ink under = grid_.at(overlay.group, overlay.x);
    const Ink bg = look_.colours == ColourDepth::kNone || under == Ink::kNoData ? Ink::kDefault : under;
    const int y = line_of(overlay.group);
    if (y >= 0)
      canvas_.put(layout_.map.x + overlay.x, y, {.glyph = overlay.glyph, .fg = overlay.ink, .bg = bg, .bold = true});
  }

  int line_of(int group) const {
    for (std::size_t i = 0; i < layout_.rows.lines.size(); ++i) {
      const MapLine& line = layout_.rows.lines[i];
      if (line.label_of < 0 && (line.top == group || line.bottom == group)) return layout_.map.y + static_cast<int>(i);
    }
    return -1;
  }

  void paint_cursor() {
    const int group = group_of(layout_.rows, state_.cursor_rank);
    if (!state_.cursor_time || group < 0 || !window().shows(*state_.cursor_time)) return;
    const int x = layout_.map.x + static_cast<int>(window().x_of(*state_.cursor_time)), y = line_of(group);
    if (y < 0) return;
    Cell cell = canvas_.at(x, y);
    if (look_.colours == ColourDepth::kNone) {
      cell.reverse = true;
    } else {
      cell = {.glyph = U'┼', .fg = Ink::kCursor, .bg = grid_.at(group, x - layout_.map.x), .bold = true};
    }
    canvas_.put(x, y, cell);
  }

  Canvas& canvas_;
  const Layout& layout_;
  const State& state_;
  const timeline::Timeline& timeline_;
  const Model& model_;
  const Look& look_;
  const Nanoseconds until_;
  Grid grid_;
  std::vector<Overlay> overlays_;
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
  return static_cast<Ink>(static_cast<int>(Ink::kWait0) + std::min(static_cast<int>(wait * 8), 7));
}

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

int group_of(const RankRows& rows, Rank rank) {
  const auto after = std::upper_bound(rows.groups.begin(), rows.groups.end(), rank,
                                      [](Rank r, const RankRange& group) { return r < group.first; });
  if (after == rows.groups.begin() || rank >= std::prev(after)->last) return -1;
  return static_cast<int>(std::prev(after) - rows.groups.begin());
}

void draw_heat_map(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look& look) {
  MapPainter(canvas, layout, state, model, look).paint();
}

}  // namespace idlewave::view
