#pragma once
// Somebody who presses keys.

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "monitor/view/keys/update.h"
#include "monitor/view/layout/layout.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/panels.h"
#include "monitor/view/screen/screen.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {

/// An operator in front of a session.
class Operator {
 public:
  explicit Operator(const testing::SyntheticSession& watched = usual_session()) : session_(watched) {}

  Operator& press(const Key& key) {
    keys::Update next = keys::update(std::move(state), key, session_.model(), kSize, kColour);
    state = std::move(next.state);
    effects.insert(effects.end(), next.effects.begin(), next.effects.end());
    return *this;
  }
  Operator& press(char32_t c) { return press(key_of(c)); }
  Operator& press(KeyCode code) { return press(key_of(code)); }
  Operator& type(std::u32string_view characters) {
    for (const char32_t c : characters) press(c);
    return *this;
  }
  std::string screen() const { return paint::to_text(screen::draw(state, session_.model(), kSize, kColour)); }
  const timeline::Lane* lane(Rank rank) const { return session_.timeline.lane(rank); }
  layout::Layout layout() const {
    return layout::lay_out(panels::all_panels(), state, session_.model(), kSize, kColour);
  }
  template <class Kind>
  const Kind* last() const {
    return effects.empty() ? nullptr : std::get_if<Kind>(&effects.back());
  }

  State state;
  std::vector<Effect> effects;

 private:
  const testing::SyntheticSession& session_;
};

}  // namespace idlewave::view
