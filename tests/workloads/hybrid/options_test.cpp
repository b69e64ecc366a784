// Command lines of iw-hybrid.

#include "workloads/hybrid/options.h"

#include <gmock/gmock.h>

namespace idlewave::hybrid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

wire::Result<std::variant<Options, Text>> parse(std::vector<const char*> words, int ranks = 4) {
  words.insert(words.begin(), "iw-hybrid");
  return parse_options(int(words.size()), words.data(), ranks);
}

std::string refusal(std::vector<const char*> words, int ranks = 4) {
  const auto parsed = parse(std::move(words), ranks);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(HybridOptions, OfOneThreadAreThoseOfPureMpi) {
  const Options options = std::get<Options>(*parse({"--threads", "1"}));
  EXPECT_THAT(options.modes, ElementsAre(Mode::kMasteronly));
}

TEST(HybridOptions, NameModesAndSizes) {
  const Options options = std::get<Options>(*parse({"--threads=8", "--modes", "multiple, funneled", "--size", "9x8x7",
                                                    "--kernel", "virtual", "--point-time", "2us"}));
  EXPECT_THAT(options.modes, ElementsAre(Mode::kMultiple, Mode::kFunneled));
  EXPECT_THAT(options.box.size, ElementsAre(9, 8, 7));
  EXPECT_EQ(options.point_time, std::chrono::microseconds(2));
}

TEST(HybridOptions, ReserveSeveralNumbersOfThreadsOneAfterTheOther) {
  const auto ways = ways_of(
      std::get<Options>(*parse({"--threads", "8", "--modes", "funneled,multiple,masteronly", "--reserved", "2, 4,7"})));
  std::vector<std::pair<Mode, int>> found;
  for (const Way& way : ways) found.emplace_back(way.mode, way.reserved);
  EXPECT_THAT(found,
              ElementsAre(std::pair{Mode::kFunneled, 1}, std::pair{Mode::kMultiple, 2}, std::pair{Mode::kMultiple, 4},
                          std::pair{Mode::kMultiple, 7}, std::pair{Mode::kMasteronly, 0}));
}

TEST(HybridOptions, RefuseWhatCannotBe) {
  EXPECT_THAT(refusal({"--size", "9x8"}), HasSubstr("not of the form 48x32x32"));
  EXPECT_THAT(refusal({"--size", "3x8x8"}), HasSubstr("3 planes are fewer than the 4 ranks"));
  EXPECT_THAT(refusal({"--modes", "openmp"}), HasSubstr("not one of masteronly, funneled, multiple"));
  EXPECT_THAT(refusal({"--modes", "multiple"}), HasSubstr("reserves 2 of --threads 2"));
  EXPECT_THAT(refusal({"--threads", "1", "--modes", "funneled"}), HasSubstr("--threads 2 has one"));
  EXPECT_THAT(refusal({"--threads", "4", "--modes", "multiple", "--reserved", "3,4"}),
              HasSubstr("reserves 4 of --threads 4"));
  EXPECT_THAT(refusal({"--threads", "4", "--reserved", "3"}), HasSubstr("--reserved belongs to --modes multiple"));
  EXPECT_THAT(refusal({"--threads", "4", "--modes", "multiple", "--reserved", "0"}), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal({"--point-time", "1us"}), HasSubstr("belongs to --kernel virtual"));
}

}  // namespace
}  // namespace idlewave::hybrid
