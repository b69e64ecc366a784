#include "monitor/cli/over.h"

#include <fmt/format.h>
#include <wordexp.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "monitor/host/programs.h"

namespace idlewave::cli {
namespace {

constexpr std::string_view kNode = "{}";

/// Whatever a shell at the other end leaves as it is.
bool is_plain(const std::string& word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || std::strchr("-_./:@%+=,[]", c); });
}

bool names_program(const std::string& word) { return std::filesystem::path(word).filename() == "idlewave"; }

wire::Result<std::vector<std::string>> words_of_command(const std::string& line, const std::string& flag) {
  wordexp_t found{};
  const int failure = ::wordexp(line.c_str(), &found, WRDE_NOCMD | WRDE_UNDEF);
  std::vector<std::string> words;
  if (failure == 0) words.assign(found.we_wordv, found.we_wordv + found.we_wordc);
  if (failure == 0 || failure == WRDE_NOSPACE) ::wordfree(&found);
  if (!words.empty() && !words.front().empty()) return words;
  return wire::Error{
      fmt::format("{0} '{1}' is no command that can be started: one command and its arguments, as in {0} 'ssh login2'",
                  flag, line)};
}

/// Before a shell's rules take it apart, to which braces are something else.
std::string with_node(const std::string& over, const std::string& node) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t found = 0; (found = over.find(kNode, at)) != std::string::npos; at = found + kNode.size())
    text += over.substr(at, found - at) + node;
  return at == 0 ? over + " " + node : text + over.substr(at);
}

std::vector<std::string> words_of_carrier(const std::string& session) {
  std::vector<std::string> words = {"carry", session, "--agents"};
  if (const char* root = std::getenv("IDLEWAVE_DIR"); root != nullptr && *root != '\0')
    words.insert(words.end(), {"--dir", root});
  return words;
}

}  // namespace

wire::Result<std::vector<std::string>> command_over(const std::string& over, const std::vector<std::string>& more,
                                                    const OverFlag& flag) {
  auto words = words_of_command(over, flag.name);
  if (!words) return words;
  std::vector<std::string> ours = more;
  if (!names_program(words->back())) ours.insert(ours.begin(), flag.program);
  for (const std::string& word : ours) {
    if (!is_plain(word))
      return wire::Error{fmt::format("'{}' can't be said over '{}': letters, digits and -_./:@%+=,[] can", word, over)};
    words->push_back(word);
  }
  return words;
}

wire::Result<std::vector<host::FarNode>> far_nodes_over(const std::string& over, const std::vector<std::string>& nodes,
                                                        const std::string& session) {
  // Its libraries are wanted on every node under the path that they have here, and so it is there as well.
  const OverFlag flag{.name = "--agents-over", .program = host::program_folder() / "idlewave"};
  std::vector<host::FarNode> all;
  for (const std::string& node : nodes) {
    const std::string there = with_node(over, node);
    auto command = command_over(there, words_of_carrier(session), flag);
    if (!command) return command.error();
    if (!host::find_program(command->front()))
      return wire::Error{fmt::format("--agents-over '{}': {}: not found", over, command->front())};
    all.push_back({node, there, std::move(*command)});
  }
  return all;
}

}  // namespace idlewave::cli
