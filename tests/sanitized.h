#pragma once
// What a sanitizer changes about a program, so that a test of just that can be left out: memory taken, libraries, signals.

namespace idlewave::tests {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace idlewave::tests
