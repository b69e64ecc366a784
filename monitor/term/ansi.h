#pragma once
// A canvas as text with colours, for one-shot output: no cursor motion, so it can be paged, mailed and pasted. Pure.

#include <string>

#include "monitor/view/look.h"
#include "monitor/view/paint/canvas.h"

namespace idlewave::term {

/// Rows from the top, each closed by '\n' in the terminal's own colours; blanks without meaning at the end of a row are
/// left out. Glyphs are UTF-8, or ASCII alone without look.unicode. Colours are SGR sequences (ECMA-48 8.3.117); none
/// for ColourDepth::kNone but attributes.
std::string to_ansi(const view::paint::Canvas& canvas, const view::Look& look);

}  // namespace idlewave::term
