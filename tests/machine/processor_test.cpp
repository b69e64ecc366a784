#include "probe/machine/processor.h"

#include <gmock/gmock.h>

#include <fstream>
#include <thread>

namespace idlewave::machine {
namespace {

using testing::StartsWith;

std::string described(const char* facts) {
  const std::string path = testing::TempDir() + "cpuinfo";
  std::ofstream(path) << facts;
  return describe_processors(path.c_str());
}

TEST(Processors, AreCalledByTheModelOfTheFirst) {
  EXPECT_THAT(
      described("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Xeon 6148: 2.4 GHz\nprocessor\t: 1\nmodel name\t: B\n"),
      StartsWith("Xeon 6148: 2.4 GHz, "));
}

TEST(Processors, OfAKernelThatNamesNoneAreUnknown) {
  EXPECT_THAT(described("processor\t: 0\nCPU part\t: 0xd0c\n"), StartsWith("unknown processor, "));
  EXPECT_THAT(describe_processors("/no/such/file"), StartsWith("unknown processor, "));
}

TEST(Processors, AreCounted) {
  EXPECT_THAT(describe_processors(),
              testing::EndsWith(" " + std::to_string(std::thread::hardware_concurrency()) + " processors"));
}

}  // namespace
}  // namespace idlewave::machine
