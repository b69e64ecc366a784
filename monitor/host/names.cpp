#include "monitor/host/names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <random>

#include "monitor/host/rendezvous.h"
#include "probe/session/directory.h"

namespace idlewave::host {

std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ? c : '-';
  while (!name.empty() && name.front() == '.') name.erase(0, 1);
  return name.substr(0, std::size_t(session::kSessionNameLimit));
}

std::string new_session_name(const std::string& stem) {
  const std::string name = plain_name(stem);
  const auto with = [&](const std::string& suffix) {
    return name.substr(0, std::size_t(session::kSessionNameLimit) - 1 - suffix.size()) + suffix;
  };
  std::string found = with(fmt::format("-{}", getpid()));
  // A container may have process numbers of its own and the same home.
  for (int number = 2; has_rendezvous(found); ++number) found = with(fmt::format("-{}-{}", getpid(), number));
  return found;
}

std::string free_file_name(const std::string& stem, const std::string& extension) {
  std::string name = stem + extension;
  std::error_code ignored;
  // What would be written through a link that leads nowhere is somewhere else.
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(name, ignored)); ++number)
    name = fmt::format("{}-{}{}", stem, number, extension);
  return name;
}

wire::CommandId new_command_id() {
  std::random_device random;
  return 1 + random() % 0x7ffffffeu;
}

}  // namespace idlewave::host
