#pragma once
// The words that findings share.

#include "probe/wire/vocabulary.h"

namespace idlewave::analysis {

using wire::Nanoseconds;
using wire::Rank;

/// A window of session time, [from, to).
struct Window {
  Nanoseconds from{};
  Nanoseconds to{};
  Nanoseconds length() const { return to - from; }
};

}  // namespace idlewave::analysis
