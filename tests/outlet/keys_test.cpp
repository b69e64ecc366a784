#include "probe/outlet/mailbox/keys.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <set>

#include "tests/outlet/keyring.h"

namespace idlewave::mailbox {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
  chmod(path.c_str(), 0600);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class Keys : public ::testing::Test {
 protected:
  std::string complaint() const {
    const auto key = read_client_key(files_.viewers);
    return key ? "" : key.error().message;
  }

  const Keyring ring_;
  const KeyFiles& files_ = ring_.files;
};

TEST_F(Keys, AreTheOwnersAlone) {
  for (const std::string& path : {files_.server, files_.operators, files_.viewers, files_.agents}) {
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_mode & 07777, 0600u) << path;
  }
}

TEST_F(Keys, OfEachRoleAreReadAsTheyWereMade) {
  const auto server = read_server_key(files_.server);
  ASSERT_TRUE(server) << server.error().message;
  std::vector<std::string> admitted;
  for (const auto& [path, role] :
       {std::pair(files_.operators, Role::kOperator), {files_.viewers, Role::kViewer}, {files_.agents, Role::kAgent}}) {
    const auto key = read_client_key(path);
    ASSERT_TRUE(key) << key.error().message;
    EXPECT_EQ(key->role, role);
    EXPECT_EQ(key->server_key, server->public_key);
    admitted.push_back(key->public_key);
  }
  EXPECT_THAT(server->admitted, ElementsAre(admitted[0], admitted[1], admitted[2]));
}

TEST_F(Keys, AreAllDifferentAndNewForEachSession) {
  const Keyring other;
  std::set<std::string> secrets;
  for (const KeyFiles& files : {files_, other.files}) {
    secrets.insert(read_server_key(files.server)->secret_key);
    for (const std::string& path : {files.operators, files.viewers, files.agents})
      secrets.insert(read_client_key(path)->secret_key);
  }
  EXPECT_THAT(secrets, SizeIs(8));
}

TEST_F(Keys, OfASessionThatStartsAgainReplaceTheOldOnes) {
  const std::string before = content(files_.agents);
  ASSERT_TRUE(make_session_keys(std::filesystem::path(files_.agents).parent_path()));
  EXPECT_NE(content(files_.agents), before);
  EXPECT_TRUE(read_client_key(files_.agents));
}

TEST_F(Keys, AreNeverWrittenThroughALinkThatSomebodyLaid) {
  const std::string thesis = files_.server + ".thesis";
  write(thesis, "three years");
  for (const char* suffix : {"", ".new"}) {
    unlink((files_.viewers + suffix).c_str());
    ASSERT_EQ(symlink(thesis.c_str(), (files_.viewers + suffix).c_str()), 0);
  }
  ASSERT_TRUE(make_session_keys(std::filesystem::path(files_.viewers).parent_path()));
  EXPECT_EQ(content(thesis), "three years");
  EXPECT_TRUE(read_client_key(files_.viewers));
}

TEST_F(Keys, ThatOthersCouldReadAreRefused) {
  for (const mode_t mode : {0640, 0604, 0660, 0700, 01600}) {
    chmod(files_.viewers.c_str(), mode);
    EXPECT_THAT(complaint(), AllOf(HasSubstr(files_.viewers), HasSubstr("has mode"))) << std::oct << mode;
  }
}

TEST_F(Keys, OfAnotherUserAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(files_.viewers.c_str(), 65534, 65534), 0);
  EXPECT_THAT(complaint(), HasSubstr("belongs to another user"));
}

TEST_F(Keys, ThatAreNoFileAreRefusedWithoutWaiting) {
  unlink(files_.viewers.c_str());
  EXPECT_THAT(complaint(), HasSubstr("can't be read: No such file"));
  ASSERT_EQ(mkfifo(files_.viewers.c_str(), 0600), 0);
  EXPECT_THAT(complaint(), HasSubstr("is no file"));
  unlink(files_.viewers.c_str());
  ASSERT_EQ(mkdir(files_.viewers.c_str(), 0600), 0);
  EXPECT_THAT(complaint(), HasSubstr("is no file"));
}

TEST_F(Keys, OfTheWrongKindAreRefusedInOwnWords) {
  EXPECT_THAT(read_client_key(files_.server).error().message, HasSubstr("takes key.operator, key.viewer or key.agent"));
  EXPECT_THAT(read_server_key(files_.agents).error().message, HasSubstr("takes the session's key.server"));
}

TEST_F(Keys, ThatAreDamagedAreRefusedInOneLineThatTellsNoSecret) {
  const std::string whole = content(files_.viewers);
  const std::string secret = read_client_key(files_.viewers)->secret_key;
  std::vector<std::string> damaged{"",
                                   "\n",
                                   "ssh-ed25519 AAAA",
                                   replaced(whole, "key 1", "key 2"),
                                   replaced(whole, "viewer", "vewer"),
                                   replaced(whole, "viewer", "agent "),
                                   replaced(whole, "secret ", "secret  "),
                                   replaced(whole, secret, secret.substr(1)),
                                   replaced(whole, secret, secret.substr(1) + "\""),
                                   replaced(whole, secret, secret.substr(1) + std::string(1, '\0')),
                                   replaced(whole, "public", "server"),
                                   whole + "secret " + secret + "\n",
                                   whole + "more x\n",
                                   whole + "\n",
                                   whole + std::string(2000, 'x')};
  for (std::size_t length = 0; length < whole.size(); length += 7) damaged.push_back(whole.substr(0, length));
  for (const std::string& text : damaged) {
    write(files_.viewers, text);
    EXPECT_THAT(complaint(), AllOf(HasSubstr(files_.viewers), Not(HasSubstr("\n")), Not(HasSubstr(secret.substr(1)))))
        << text;
  }
}

TEST(KeysOf, AFolderThatIsNotThereAreRefusedInOneLine) {
  const auto made = make_session_keys("/no/such/folder");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("can't be written: No such file"));
}

}  // namespace
}  // namespace idlewave::mailbox
