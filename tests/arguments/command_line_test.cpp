#include "probe/arguments/command_line.h"

#include <gtest/gtest.h>

namespace idlewave::arguments {
namespace {

/// A program that needs a file, and may be told --json.
std::optional<Ending> ending_of(const std::vector<const char*>& words) {
  std::string file;
  bool json = false;
  CommandLine line("", "idlewave study");
  line.add("--file", file, "").required();
  line.add_flag("--json", json, "");
  std::vector<const char*> argv = {"study"};
  argv.insert(argv.end(), words.begin(), words.end());
  return line.parse(int(argv.size()), argv.data());
}

std::string refusal_of(const std::vector<const char*>& words) {
  const auto ending = ending_of(words);
  return ending && ending->refused ? ending->text : "";
}

TEST(CommandLine, SaysWhichFlagWasMeant) {
  EXPECT_EQ(refusal_of({"--file", "f", "--jsno"}), "study has no flag --jsno (did you mean '--json'?)");
  EXPECT_EQ(refusal_of({"--file", "f", "--jsno=1"}), "study has no flag --jsno (did you mean '--json'?)");
  EXPECT_EQ(refusal_of({"--hlep"}), "study has no flag --hlep (did you mean '--help'?)");
  EXPECT_FALSE(ending_of({"--file", "f", "--jsno"})->is_strange);
}

TEST(CommandLine, SaysThatAFlagIsLikeNone) {
  EXPECT_EQ(refusal_of({"--file", "f", "--frobnicate"}), "study has no flag --frobnicate");
  EXPECT_TRUE(ending_of({"--file", "f", "-n"})->is_strange);
}

TEST(CommandLine, NamesAMistypedFlagBeforeWhatIsMissing) {
  EXPECT_EQ(refusal_of({"--flie", "f"}), "study has no flag --flie (did you mean '--file'?)");
  EXPECT_EQ(refusal_of({"--json"}), "--file is required");
}

TEST(CommandLine, NamesAWordTooMany) {
  EXPECT_EQ(refusal_of({"--file", "f", "more"}), "'more': is one word too many for study");
}

TEST(CommandLine, OfAVerbKnowsTheFlagsOfTheVerb) {
  bool json = false;
  CommandLine line("", "idlewave");
  line.add_verb("report", "");
  line.verb("report").add_flag("--json", json, "");
  const auto ending = line.parse({"--jsno", "report"});
  ASSERT_TRUE(ending && ending->refused);
  EXPECT_EQ(ending->text, "report has no flag --jsno (did you mean '--json'?)");
}

}  // namespace
}  // namespace idlewave::arguments
