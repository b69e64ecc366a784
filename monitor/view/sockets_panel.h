#pragma once
// How many processes compute on each contention domain, against how many its memory can feed.

#include "monitor/view/canvas.h"
#include "monitor/view/layout.h"
#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view {

void draw_sockets(Canvas& canvas, const Layout& layout, const State& state, const Model& model);

/// The active processes of all domains in at most `columns` columns; figures whole or not at all. Empty if not even the
/// shortest fits.
std::string active_in_words(const Model& model, int columns);

/// "0-9,20" for ascending ranks.
std::string ranks_in_words(std::span<const Rank> ranks);

}  // namespace idlewave::view
