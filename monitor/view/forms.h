#pragma once
// The line at the bottom that asks something: opening, typing, sending off, and what it says.

#include <string>

#include "monitor/view/turn.h"

namespace idlewave::view {

/// Prefilled with ten times the mean step time.
Form inject_form(Rank rank, const Model& model);
/// Prefilled with the filter as it is.
Form filter_form(const State& state);

/// A key while `turn.state.form` is set.
void key_in_form(Turn& turn);

struct FormWords {
  std::string prompt;  ///< Before what is typed.
  std::string hint;    ///< After it: a complaint, a prediction, or what would be accepted.
};
FormWords words_of(const Form& form, const Model& model);

/// "reaches rank 25 in 0.5 s at 1 rank a step"; empty if no step has been measured. The speed is that of the last wave,
/// else one rank a step (afzal-2020, eq. 2 with sigma = d = 1).
std::string predicted_reach(Rank rank, const Model& model);

}  // namespace idlewave::view
