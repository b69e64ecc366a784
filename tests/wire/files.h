#pragma once
// Files for tests: a folder that goes away with the test, and whole files as bytes.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace idlewave::wire {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "iw-test.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::perror("mkdtemp"), std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(chars.data());
  return {begin, begin + chars.size()};
}

inline void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::filesystem::remove(path);  // Some file systems wait for the disk when a file is truncated and written anew.
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(out.flush()) << path;
}

}  // namespace idlewave::wire
