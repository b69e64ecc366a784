#include "probe/arguments/suggestion.h"

#include <gtest/gtest.h>

namespace idlewave::arguments {
namespace {

const std::vector<std::string> kVerbs = {"demo", "run", "replay", "report"};

std::string meant_by(std::string_view typed) { return did_you_mean(typed, kVerbs); }

TEST(Suggestion, FindsWhatDiffersByALetterOrTwoThatChangedPlaces) {
  EXPECT_EQ(meant_by("demmo"), " (did you mean 'demo'?)");
  EXPECT_EQ(meant_by("emo"), " (did you mean 'demo'?)");
  EXPECT_EQ(meant_by("dmeo"), " (did you mean 'demo'?)");
  EXPECT_EQ(meant_by("reprot"), " (did you mean 'report'?)");
}

TEST(Suggestion, TakesABeginningForTheWholeWord) { EXPECT_EQ(meant_by("repl"), " (did you mean 'replay'?)"); }

TEST(Suggestion, SuggestsNothingThatIsFar) {
  for (const char* typed : {"", "r", "frobnicate", "sim", "attach"}) EXPECT_EQ(meant_by(typed), "") << typed;
  EXPECT_EQ(did_you_mean("demo", {}), "");
}

}  // namespace
}  // namespace idlewave::arguments
