#pragma once
// Ranks against time: each cell says what its ranks did in its slice of time.

#include "monitor/view/layout/layout.h"
#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::map {

/// What a slice of time is shown as. `elapsed`: the share of it that is past, in (0, 1].
paint::Ink ink_of(const timeline::Shares& shares, float elapsed);

/// Share of waiting from which on a shade of kWait0 to kWait7 is shown; of shade 8: all.
float wait_from(int shade);

/// The glyph that stands for a meaning where there is no colour.
char32_t glyph_of(paint::Ink ink);

/// Cells, labels between domains, and the marks of delays, waves and losses.
void draw_heat_map(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
                   const Look& look);

/// Index into layout.rows.groups of the group that holds `rank`; -1 if it is not on the map.
int group_of(const layout::RankRows& rows, Rank rank);

}  // namespace idlewave::view::map
