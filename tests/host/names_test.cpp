#include "monitor/host/names.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/remove_folder.h"

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;

/// A recording's, or a sender's, may be anybody's text.
TEST(PlainName, LeadsNowhereAndHasNothingThatATerminalObeys) {
  EXPECT_EQ(plain_name("night-2_run.1"), "night-2_run.1");
  EXPECT_EQ(plain_name("../../evil\x1b[31m"), "-..-evil--31m");
  EXPECT_EQ(plain_name("/etc/passwd"), "-etc-passwd");
  EXPECT_EQ(plain_name("..."), "");
  EXPECT_LE(plain_name(std::string(100000, 'a')).size(), 255u);
}

TEST(FreeFileName, IsNotThatOfALinkWhichLeadsNowhere) {
  char folder[] = "/tmp/idlewave-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const fs::path here = fs::current_path();
  fs::current_path(folder);
  fs::create_symlink("nowhere", "s.iw");
  std::ofstream("s-2.iw") << "there";
  EXPECT_EQ(free_file_name("s", ".iw"), "s-3.iw");
  fs::current_path(here);
  remove_folder(folder);
}

}  // namespace
}  // namespace idlewave::host
