#pragma once
// One road is one program: run_road() is what all of them define. libFuzzer drives it where clang is, driver.cpp
// elsewhere.

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/bytes.h"

namespace idlewave::fuzz {

void run_road(Bytes& in);

/// What holds whatever the input is.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace idlewave::fuzz
