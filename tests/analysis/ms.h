#pragma once

#include "probe/wire/vocabulary.h"

namespace idlewave::test {

/// To the nearest nanosecond.
constexpr wire::Nanoseconds ms(double value) {
  return wire::Nanoseconds(std::int64_t(value * 1e6 + (value < 0 ? -0.5 : 0.5)));
}

}  // namespace idlewave::test
