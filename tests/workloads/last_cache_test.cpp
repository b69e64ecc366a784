#include "workloads/support/last_cache.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/remove_folder.h"

namespace idlewave::support {
namespace {

namespace fs = std::filesystem;

class LastLevelCaches : public testing::Test {
 protected:
  LastLevelCaches() {
    std::string name = (fs::temp_directory_path() / "idlewave-caches-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~LastLevelCaches() override { remove_folder(root_); }

  void has(int processor, int index, int level, const std::string& size, const std::string& shared) {
    const fs::path folder = root_ / ("cpu" + std::to_string(processor)) / "cache" / ("index" + std::to_string(index));
    fs::create_directories(folder);
    std::ofstream(folder / "level") << level << '\n';
    std::ofstream(folder / "size") << size << '\n';
    std::ofstream(folder / "shared_cpu_list") << shared << '\n';
  }

  fs::path root_;
};

TEST_F(LastLevelCaches, CountOnceForThoseWhoShareThem) {
  for (int processor = 0; processor < 4; ++processor) {
    has(processor, 0, 1, "32K", std::to_string(processor));
    has(processor, 2, 2, "1024K", std::to_string(processor));
    has(processor, 3, 3, "32768K", processor < 2 ? "0-1" : "2-3");
  }
  fs::create_directories(root_ / "cpufreq");
  std::ofstream(root_ / "online") << "0-3\n";
  EXPECT_EQ(last_level_caches(root_), 2 * 32768 * 1024u);
}

TEST_F(LastLevelCaches, AreThoseOfTheHighestLevelThatThereIs) {
  has(0, 0, 1, "64K", "0");
  has(0, 1, 2, "512K", "0-1");
  has(1, 0, 1, "64K", "1");
  has(1, 1, 2, "512K", "0-1");
  EXPECT_EQ(last_level_caches(root_), 512 * 1024u);
}

TEST_F(LastLevelCaches, AreWhatTheLibraryKnowsWhereTheKernelSaysNothing) {
  const auto known = static_cast<std::uint64_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L));
  EXPECT_EQ(last_level_caches(root_), known);
  EXPECT_EQ(last_level_caches(root_ / "none"), known);
  has(0, 3, 3, "", "0");
  EXPECT_EQ(last_level_caches(root_), known);
}

}  // namespace
}  // namespace idlewave::support
