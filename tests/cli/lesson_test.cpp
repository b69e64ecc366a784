#include "monitor/cli/lessons/commands.h"

#include <gmock/gmock.h>

namespace idlewave::cli::lessons {
namespace {

TEST(RingCommand, LetsTheRingReadTheScenarioWithAllThatWasSet) {
  const auto words =
      ring_command("a folder/mine.toml", {"program.volume=7 MB", "machine.ranks=4"}, std::chrono::milliseconds(1500));
  EXPECT_THAT(std::vector(words.begin() + 1, words.end()),
              testing::ElementsAre("--scenario", "a folder/mine.toml", "--without-delays", "--set",
                                   "program.volume=7 MB", "--set", "machine.ranks=4", "--duration", "1.5s"));
}

}  // namespace
}  // namespace idlewave::cli::lessons
