#pragma once
// What a sanitizer changes about a program, so that a test of just that can be left out: memory taken, libraries,
// signals.

namespace idlewave::tests {

#if !defined(__has_feature)
#define __has_feature(feature) 0  // clang's way to say it
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace idlewave::tests
