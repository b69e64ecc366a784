#include "workloads/sim/network/goal_reader.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

namespace idlewave::sim::network {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GoalSchedule read(const std::string& text) {
  auto schedule = read_goal(text, "f.goal");
  EXPECT_TRUE(schedule) << (schedule ? "" : schedule.error().message);
  return std::move(*schedule);
}

std::string error_of(std::string_view text) {
  const auto schedule = read_goal(text, "f.goal");
  return schedule ? "none" : schedule.error().message;
}

std::string in_rank(const std::string& statements) {
  return "num_ranks 2\nrank 0 {\n" + statements + "\n}\nrank 1 {\n}\n";
}

TEST(GoalReader, ReadsEveryStatement) {
  const auto schedule = read(
      "// head\nnum_ranks 2 /* two\nlines */\nrank 0 {\n  l1: calc 100 cpu 2\n  l2: send 8b to 1 tag 3 cpu 1 nic 4\n"
      "  recv 9 b from -1 tag -1 // any\n  l2 requires l1\n  l3: calc 5; l3 irequires l2\n}\nrank 1 { recv 8b from 0 "
      "tag 3 }");
  ASSERT_EQ(schedule.ops().size(), 5u);
  EXPECT_EQ(schedule.ranks(), 2);
  EXPECT_EQ(schedule.cpus(), 3);
  EXPECT_EQ(schedule.nics(), 5);
  const GoalOp& send = schedule.ops()[1];
  EXPECT_EQ(send.kind, OpKind::kSend);
  EXPECT_EQ(send.amount, 8u);
  EXPECT_EQ(send.peer, 1);
  EXPECT_EQ(send.tag, 3u);
  EXPECT_EQ(send.units.cpu, 1);
  EXPECT_EQ(schedule.ops()[2].peer, kAnySource);
  EXPECT_EQ(schedule.ops()[2].tag, kAnyTag);
  EXPECT_THAT(schedule.dependents(0), ElementsAre(1));
  EXPECT_THAT(schedule.dependents(1), ElementsAre(3 | GoalSchedule::kWaitsForStart));
}

TEST(GoalReader, TakesRanksInAnyOrder) {
  const auto schedule = read("num_ranks 2\nrank 1 {\na: calc 1\nb: calc 2\nb requires a\n}\nrank 0 {\ncalc 3\n}\n");
  EXPECT_EQ(schedule.ops()[0].amount, 3u);
  EXPECT_THAT(schedule.dependents(1), ElementsAre(2));
}

TEST(GoalReader, NamesTheLabelsOfACycle) {
  EXPECT_EQ(error_of(in_rank("a: calc 1\nb: calc 1\nc: calc 1\nb requires a\nc requires b\nb irequires c")),
            "f.goal:9: rank 0: labels wait for each other: b requires c requires b; remove one of these lines");
  EXPECT_THAT(error_of(in_rank("a: calc 1\na requires a")), HasSubstr("a requires a"));
}

TEST(GoalReader, TakesALaterLabelThatMakesNoCycle) {
  EXPECT_EQ(error_of(in_rank("a: calc 1\nb: calc 1\na requires b")), "none");
}

TEST(GoalReader, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(error_of(""), "f.goal:1: expected \"num_ranks N\" first, found the end of the file");
  EXPECT_EQ(error_of("num_ranks 0\n"), "f.goal:1: 0 is out of range: a number of ranks is 1 to 2147483646");
  EXPECT_EQ(error_of("num_ranks 2000000000\nrank 0 {}"),
            "f.goal:1: num_ranks 2000000000: the file is too short for as many; each rank has a block");
  EXPECT_EQ(error_of(in_rank("a: calc 1\na: calc 2")), "f.goal:4: label \"a\" is used twice in rank 0");
  EXPECT_EQ(error_of(in_rank("send 8b to 2")), "f.goal:3: 2 is out of range: a rank is 0 to 1");
  EXPECT_EQ(error_of(in_rank("send 8b to -1")), "f.goal:3: expected a rank, found \"-1\"");
  EXPECT_EQ(error_of(in_rank("send 8 to 1")), "f.goal:3: expected \"b\", as in 8b, found \"to\"");
  EXPECT_EQ(error_of(in_rank("calc 99999999999999999999999")),
            "f.goal:3: that is out of range: a duration in ns is 0 to 9007199254740992");
  EXPECT_EQ(error_of(in_rank("calc 18446744073709551617")),  // 2^64 + 1
            "f.goal:3: that is out of range: a duration in ns is 0 to 9007199254740992");
  EXPECT_EQ(error_of(in_rank("calc 9223372036854775807")),
            "f.goal:3: 9223372036854775807 is out of range: a duration in ns is 0 to 9007199254740992");
  EXPECT_EQ(error_of(in_rank("calc 0000000000000000000000007")), "none");
  EXPECT_EQ(error_of(in_rank("calc 1 cpu 256")), "f.goal:3: 256 is out of range: a cpu is 0 to 255");
  EXPECT_EQ(error_of(in_rank("calc 1 tag 3")), "f.goal:3: expected cpu or the end of the line, found \"tag\"");
  EXPECT_EQ(error_of(in_rank("recv 1b from 1 tag 4294967295")),
            "f.goal:3: 4294967295 is out of range: a tag is 0 to 4294967294");
  EXPECT_EQ(error_of(in_rank("a: jump 3")), "f.goal:3: expected calc, send or recv after \"a:\", found \"3\"");
  EXPECT_EQ(error_of(in_rank("a: calc 1\na requires z")), "f.goal:4: label \"z\" does not stand above in rank 0");
  EXPECT_EQ(error_of(in_rank("a: calc 1\na wants a")),
            "f.goal:4: expected \":\", requires or irequires after \"a\", found \"wants\"");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n"),
            "f.goal:4: rank 0 is there already, in line 2; give each rank one block");
  EXPECT_EQ(error_of("num_ranks 2\nrank 0 { calc 1 }\n"),
            "f.goal:3: the file ends and rank 1 has no block; give it one, \"rank 1 { }\" if it does nothing");
  EXPECT_EQ(error_of("num_ranks 1\nrank 0 {\ncalc 1\n"), "f.goal:4: the file ends inside rank 0; close it with \"}\"");
  EXPECT_EQ(error_of("num_ranks 1\n/* for ever"), "f.goal:2: a comment does not end; close it with */");
  EXPECT_EQ(error_of(std::string_view("\x7f"
                                      "ELF\0\0",
                                      6)),
            "f.goal:1: expected \"num_ranks N\" first, found the byte 0x7f");
}

TEST(GoalReader, AnswersWhereverAFileBreaksOff) {
  const std::string whole =
      "num_ranks 1\nrank 0 {\nl1: send 8b to 0 tag 3 cpu 0 nic 0\nl2: recv 8b from -1 tag -1\nl2 irequires l1 /* x "
      "*/\n}";
  ASSERT_EQ(error_of(whole), "none");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string error = error_of(std::string_view(whole).substr(0, size));
    EXPECT_THAT(error, testing::StartsWith("f.goal:")) << size;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(GoalReader, TakesOrRefusesDamagedTextInOneLine) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  const std::string whole =
      in_rank("l1: send 8b to 0 tag 3 cpu 0 nic 0\nl2: recv 8b from -1 tag -1 // c\nl2 requires l1\n/* */ l3: calc 7");
  for (int round = 0; round < 20000; ++round) {
    std::string text = whole;
    for (int damage = int(random() % 4); damage >= 0; --damage) text[random() % text.size()] = char(random());
    const std::string error = error_of(text);
    ASSERT_EQ(error.find('\n'), std::string::npos) << "seed " << seed << ": " << error;
    ASSERT_TRUE(error == "none" || error.starts_with("f.goal:")) << "seed " << seed << ": " << error;
  }
}

}  // namespace
}  // namespace idlewave::sim::network
