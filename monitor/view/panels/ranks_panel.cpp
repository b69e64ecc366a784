#include "monitor/view/panels/ranks_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "monitor/view/layout/layout.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::panels {

namespace {

using analysis::causes::RankCauses;
using paint::Ink;

constexpr PanelKey kRanksKey = U'5';
constexpr int kRank = 6;
constexpr int kFigure = 13;
constexpr int kReason = 15;
constexpr int kLongReason = 26;
/// Of its list while nobody looks at it: a heading and the worst.
constexpr int kGlimpse = 5;

const RankCauses& causes_of(const Model& model, Rank rank) { return model.findings.causes.ranks[std::size_t(rank)]; }

int listed_ranks(const Model& model) {
  const auto& all = model.findings.causes.ranks;
  return static_cast<int>(std::ranges::count_if(
      all, [](const RankCauses& each) { return each.waited > Nanoseconds{0} || each.costs.sum() > Nanoseconds{0}; }));
}

/// Costs below this don't count in the order: times are rounded, so the last digits say nothing of anybody.
Nanoseconds grain(const Model& model) {
  Nanoseconds longest{};
  for (const RankCauses& each : model.findings.causes.ranks) longest = std::max(longest, each.waited);
  return std::max(longest / 1000, Nanoseconds{1});
}

/// The first so many of those that wait or are waited for: who costs others most comes first, then who waits most.
std::vector<Rank> worst_first(const Model& model, int count) {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < static_cast<Rank>(model.findings.causes.ranks.size()); ++rank) ranks.push_back(rank);
  const auto key = [&, unit = grain(model)](Rank rank) {
    const RankCauses& causes = causes_of(model, rank);
    return std::tuple(-(causes.costs.sum() / unit), -causes.waited, rank);
  };
  count = std::min(count, listed_ranks(model));
  std::ranges::partial_sort(ranks, ranks.begin() + count, {}, key);
  ranks.resize(static_cast<std::size_t>(count));
  return ranks;
}

/// What most of a rank's waiting is for, and how much of it: in the words for which there may be room.
std::vector<std::string> mostly_for(const RankCauses& causes) {
  if (causes.waited <= Nanoseconds{0}) return {"-"};
  Nanoseconds most = causes.unknown;
  std::vector<std::string> words = {"unknown"};
  const auto consider = [&](Nanoseconds time, std::vector<std::string> what) {
    if (time > most) most = time, words = std::move(what);
  };
  consider(causes.transfer, {"messages"});
  consider(causes.bandwidth, {"shared bandwidth", "bandwidth"});
  if (!causes.by.empty()) consider(causes.by.front().cost.sum(), {fmt::format("rank {}", causes.by.front().rank)});
  for (std::string& each : words) each += " " + paint::to_percent(double(most.count()) / double(causes.waited.count()));
  return words;
}

/// What ended most of a rank's waiting, and how much of it.
std::string ended_by(const RankCauses& causes) {
  if (causes.waited <= Nanoseconds{0}) return "-";
  Nanoseconds most = causes.waited - causes.ended.sum();
  std::string_view what = "not said";
  for (const analysis::causes::WaitEnd& end : analysis::causes::kWaitEnds)
    if (causes.ended.*end.time > most) most = causes.ended.*end.time, what = end.name;
  return fmt::format("{} {}", what, paint::to_percent(double(most.count()) / double(causes.waited.count())));
}

/// All in one line.
void draw_sum(paint::Canvas& canvas, const layout::Box& box, const Model& model) {
  const Rank worst = worst_first(model, 1).front();
  const RankCauses& causes = causes_of(model, worst);
  std::vector<std::string> variants;
  if (causes.costs.sum() >= grain(model)) {
    const std::string costs = fmt::format("rank {} made others wait {}", worst, paint::to_duration(causes.costs.sum()));
    const std::string direct = paint::to_duration(causes.costs.direct), far = paint::to_duration(causes.costs.far);
    variants = {fmt::format("{}: {} direct, {} through those who waited", costs, direct, far),
                fmt::format("{}: {} direct, {} far", costs, direct, far), costs};
  } else {
    for (const std::string& what : mostly_for(causes))
      variants.push_back(fmt::format("rank {} waited longest, {}: {}", worst, paint::to_duration(causes.waited), what));
  }
  canvas.text(box.x, box.y, paint::longest_fitting(variants, box.width), Ink::kText);
}

struct Line {
  std::string rank, costs, direct, far, waited;
  std::vector<std::string> mostly_for;
  std::string ended_by;
};

/// Without the parts of the costs, and without what ended it, where there is no room for them.
void draw_line(paint::Canvas& canvas, const layout::Box& box, int y, const Line& line, Ink ink) {
  const bool wide = box.width >= kRank + 4 * kFigure + kReason;
  std::string text = fmt::format("{:>{}}{:>{}}", line.rank, kRank, line.costs, kFigure);
  if (wide) text += fmt::format("{:>{}}{:>{}}", line.direct, kFigure, line.far, kFigure);
  text += fmt::format("{:>{}}   ", line.waited, kFigure);
  canvas.text(box.x, y, text, ink, Ink::kDefault, false, box.width);
  const int x = paint::columns_of(text), end = kLongReason + kReason;
  const bool says_end = wide && box.width - x >= end;
  const int room = says_end ? kLongReason - 2 : box.width - x;
  if (says_end)
    canvas.text(box.x + x + kLongReason, y, line.ended_by, ink, Ink::kDefault, false, box.width - x - kLongReason);
  if (room > 0)
    canvas.text(box.x + x, y, paint::longest_fitting(line.mostly_for, room), ink, Ink::kDefault, false, room);
}

/// Of some of what ranks waited.
bool is_a_cause_known(const Model& model) {
  return std::ranges::any_of(model.findings.causes.ranks,
                             [](const RankCauses& each) { return each.unknown < each.waited; });
}

void draw_list(paint::Canvas& canvas, const layout::Box& box, const State& state, const Model& model) {
  draw_line(canvas, box, box.y, {"rank", "costs others", "direct", "far", "waited", {"mostly for"}, "mostly ended by"},
            Ink::kDim);
  const int room = box.height - 1;
  const int first = std::clamp(state.scrolled_by(kRanksKey), 0, std::max(listed_ranks(model) - 1, 0));
  const std::vector<Rank> worst = worst_first(model, first + room);
  const auto cost = [is_known = is_a_cause_known(model)](Nanoseconds time) {
    return is_known ? paint::to_duration(time) : "?";
  };
  for (int i = first; i < static_cast<int>(worst.size()); ++i) {
    const Rank rank = worst[static_cast<std::size_t>(i)];
    const RankCauses& causes = causes_of(model, rank);
    draw_line(canvas, box, box.y + 1 + i - first,
              {fmt::format("{}", rank), cost(causes.costs.sum()), cost(causes.costs.direct), cost(causes.costs.far),
               paint::to_duration(causes.waited), mostly_for(causes), ended_by(causes)},
              rank == state.cursor_rank ? Ink::kCursor : Ink::kText);
  }
}

/// A low screen has a line of it where no lesson needs the room, and more while it has the focus.
int wish_for_ranks(const State& state, const Model& model, const layout::Room& room) {
  const int listed = listed_ranks(model), rows = room.size.rows;
  if (listed == 0) return 0;
  if (room.region == layout::Region::kBeside)
    return std::min(state.focus == kRanksKey ? rows / 2 : kGlimpse, listed + 1);
  if (rows < 24) return 0;
  if (state.focus == kRanksKey) return std::min(std::max(rows / 3, 7), listed + 1);
  if (rows >= 40) return std::min(kGlimpse, listed + 1);
  return rows >= 30 || !model.session.lesson ? 1 : 0;
}

int most_of_ranks(const Model& model) { return listed_ranks(model) + 1; }

void draw_ranks(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
                const Look&) {
  const layout::Box box = layout.box_of(kRanksKey);
  if (box.height == 1)
    draw_sum(canvas, box, model);
  else
    draw_list(canvas, box, state, model);
}

void scroll_ranks(State& state, const Model& model, int lines) {
  state.scrolled[kRanksKey] = std::clamp(state.scrolled_by(kRanksKey) + lines, 0, std::max(listed_ranks(model) - 1, 0));
}

}  // namespace

layout::Panel ranks_panel() {
  return {.key = kRanksKey,
          .name = "ranks",
          .region = layout::Region::kBottom,
          .region_if_wide = layout::Region::kBottom,
          .takes_spare_rows = false,
          .wish = wish_for_ranks,
          .draw = draw_ranks,
          .scroll = scroll_ranks,
          .beside_if_room = true,
          .most = most_of_ranks};
}

}  // namespace idlewave::view::panels
