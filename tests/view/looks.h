#pragma once
// Terminals on which screens are drawn, and a session to draw.

#include <string>

#include "monitor/view/paint/text.h"
#include "monitor/view/screen/screen.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {

inline constexpr Look kColour{.colours = ColourDepth::kIndexed256, .unicode = true, .cheap_scroll = true};
inline constexpr Look kMonochrome{.colours = ColourDepth::kNone, .unicode = true, .cheap_scroll = true};
inline constexpr Look kAscii{.colours = ColourDepth::kNone, .unicode = false, .cheap_scroll = true};
inline constexpr paint::Size kSize{160, 48};

inline const testing::SyntheticSession& usual_session() {
  static const testing::SyntheticSession kSession;
  return kSession;
}

inline std::string text(const State& state, const Model& model, paint::Size size, const Look& look) {
  return paint::to_text(screen::draw(state, model, size, look));
}
inline std::string text(paint::Size size, const Look& look = kMonochrome) {
  return text({}, usual_session().model(), size, look);
}

}  // namespace idlewave::view
