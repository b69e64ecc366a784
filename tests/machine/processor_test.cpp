#include "probe/machine/processor.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

namespace idlewave::machine {
namespace {

using testing::StartsWith;

std::string described(const char* facts) {
  // Its own: tests run beside each other.
  const std::string path = testing::TempDir() + "cpuinfo-" + std::to_string(getpid());
  std::ofstream(path) << facts;
  const std::string words = describe_processors(path.c_str());
  std::remove(path.c_str());
  return words;
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
