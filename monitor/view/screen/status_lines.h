#pragma once
// The title and the line about steps: where the session stands.

#include "monitor/view/layout/layout.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/paint/pieces.h"
#include "monitor/view/state.h"

namespace idlewave::view::screen {

/// Weight from which a piece is to be seen somewhere, if need be on the line about steps.
inline constexpr int kAskedFor = 4;
/// What the title says.
std::vector<paint::Piece> title_pieces(const layout::Layout& layout, const State& state, const Model& model);
/// `columns`: room for the figures of a step.
std::vector<paint::Piece> step_pieces(const layout::Layout& layout, const State& state, const Model& model,
                                      int columns);

/// "LIVE +0.06 s", "REPLAY x2 3.2 s of 14.1 s", "PAUSED", "LOST".
paint::Piece carrier_piece(const State& state, const Model& model);

/// One line about what is wrong with the session, or nothing.
std::string alert(const Model& model);

}  // namespace idlewave::view::screen
