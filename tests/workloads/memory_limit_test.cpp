// What a process may use of its machine's memory, of control groups that the test lays out.

#include "workloads/support/memory_limit.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "tests/remove_folder.h"

namespace idlewave::support {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

class ControlGroups : public testing::Test {
 protected:
  ControlGroups() { write("proc/self/cgroup", ""); }
  ~ControlGroups() override { remove_folder(root_); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::uint64_t memory() const { return memory_of_control_groups(root_); }

 private:
  std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ControlGroups, LimitAProcessByTheNarrowestThatItIsIn) {
  write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  EXPECT_EQ(memory(), kNoLimit) << "none can be seen";
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  EXPECT_EQ(memory(), kNoLimit);
  write("sys/fs/cgroup/slurm/job_7/memory.max", "4000000000\n");
  write("sys/fs/cgroup/slurm/memory.max", "64000000000\n");
  EXPECT_EQ(memory(), 4'000'000'000);
  write("sys/fs/cgroup/memory.max", "3000000000\n");
  EXPECT_EQ(memory(), 3'000'000'000) << "that of a container";
}

TEST_F(ControlGroups, OfTheFirstVersionHaveOneForMemory) {
  write("proc/self/cgroup", "5:cpuset:/narrow\n4:cpu,memory:/job:7\n1:name=systemd:/memory\n0::/\n");
  write("sys/fs/cgroup/memory/job:7/memory.limit_in_bytes", "2000000000\n");
  write("sys/fs/cgroup/memory/narrow/memory.limit_in_bytes", "1\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory(), 2'000'000'000);
}

TEST_F(ControlGroups, AreNotThereOnEverySystem) {
  write("proc/self/cgroup", "nonsense\n:\n0:\n");
  EXPECT_EQ(memory(), kNoLimit);
  EXPECT_TRUE(check_memory(1, "never"));
  EXPECT_FALSE(check_memory(std::size_t{1} << 60, "give less"));
}

}  // namespace
}  // namespace idlewave::support
