#pragma once
// Words that people type for the values of an enum: one table for each, in the order in which the words are told. What is
// printed comes from the same table.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "probe/wire/result.h"
#include "probe/words/text.h"

namespace idlewave::words {

template <class E>
using Choice = std::pair<std::string_view, E>;

template <class E, std::size_t count>
using Choices = std::array<Choice<E>, count>;

template <class E>
using AnyOf = std::type_identity_t<std::span<const Choice<E>>>;

/// "vector, overlap, task"
template <class E>
std::string all_words(std::span<const Choice<E>> choices) {
  std::vector<std::string_view> all;
  for (const Choice<E>& choice : choices) all.push_back(choice.first);
  return fmt::format("{}", fmt::join(all, ", "));
}

/// The table has to have the value.
template <class E>
std::string_view word_of(E value, AnyOf<E> choices) {
  const auto found = std::ranges::find(choices, value, &Choice<E>::second);
  assert(found != choices.end());
  return found == choices.end() ? std::string_view("unknown") : found->first;
}

/// Error: what was written, and the words that are accepted.
template <class E>
wire::Result<E> parse_choice(std::string_view text, AnyOf<E> choices) {
  const auto found = std::ranges::find(choices, trimmed(text), &Choice<E>::first);
  if (found == choices.end()) return wire::Error{fmt::format("\"{}\" is not one of {}", text, all_words<E>(choices))};
  return found->second;
}

/// The same with commas between them.
template <class E>
wire::Result<std::vector<E>> parse_choices(std::string_view text, AnyOf<E> choices) {
  std::vector<E> values;
  for (const std::string_view word : split(text, ',')) {
    const auto value = parse_choice<E>(word, choices);
    if (!value) return value.error();
    values.push_back(*value);
  }
  return values;
}

}  // namespace idlewave::words
