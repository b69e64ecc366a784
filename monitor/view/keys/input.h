#pragma once
// Where to go, as it is typed into a form. The other words are those of probe/words.

#include <string_view>
#include <variant>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::view::keys {

/// A session time, a rank, or a step.
using Place = std::variant<wire::Nanoseconds, wire::Rank, wire::Step>;
/// "3.2s", "rank 12", "step 400".
wire::Result<Place> parse_place(std::string_view text, wire::Rank ranks);

}  // namespace idlewave::view::keys
