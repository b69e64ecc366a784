#pragma once
// Files laid out as the kernel lays them out.

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "probe/wire/vocabulary.h"

namespace idlewave::sampler {

inline wire::Nanoseconds ms(std::int64_t count) { return std::chrono::milliseconds(count); }

inline void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

/// That all may look into.
inline std::string new_folder() {
  std::string name = "/tmp/idlewave-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  std::filesystem::permissions(name, std::filesystem::perms(0755));
  return name;
}

/// For its life this process may read what an ordinary user may, also where root runs the test.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (geteuid() == 0) is_changed_ = setresuid(kNobody, kNobody, 0) == 0;
  }
  ~OrdinaryUser() {
    if (is_changed_ && setresuid(0, 0, 0) != 0) std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  static constexpr uid_t kNobody = 65534;
  bool is_changed_ = false;
};

}  // namespace idlewave::sampler
