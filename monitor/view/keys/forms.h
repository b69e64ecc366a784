#pragma once
// The line at the bottom that asks something: opening, typing, sending off, and what it says.

#include <string>

#include "monitor/view/layout/turn.h"
#include "probe/wire/noise_order.h"
#include "probe/wire/result.h"

namespace idlewave::view::keys {

/// Prefilled with ten times the mean step time. Looks at the session for what a delay would do (analysis/program/outlook.h).
Form inject_form(Rank rank, const Model& model);
/// Prefilled with the filter as it is.
Form filter_form(const State& state);

/// A key while `turn.state.form` is set.
void key_in_form(layout::Turn& turn);

/// What the form for noise was told, as it was read; an error becomes its complaint. While that form is open.
void take_noise(State& state, wire::Result<wire::NoiseOrder> noise);

struct FormWords {
  std::string prompt;  ///< Before what is typed.
  std::string hint;    ///< After it: a complaint, a prediction, or what would be accepted.
};
FormWords words_of(const Form& form, const Model& model);

}  // namespace idlewave::view::keys
