#pragma once
// What a test leaves behind in folders that agents use.

#include <filesystem>
#include <system_error>

namespace idlewave {

/// An agent that has nothing left to do removes its folder itself, maybe at this moment.
inline void remove_folder(const std::filesystem::path& path) {
  constexpr int kAttempts = 100;
  std::error_code error;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::filesystem::remove_all(path, error);
    if (!error) return;
  }
}

}  // namespace idlewave
