#include "monitor/host/node_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace idlewave::host {
namespace {

using Names = std::vector<std::string>;

constexpr std::size_t kMostDigits = 9;
constexpr std::uintmax_t kLargestHostFile = 1u << 20;  // bytes

std::optional<std::size_t> number_of(std::string_view digits) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
  return is_whole && digits.size() <= kMostDigits ? std::optional(number) : std::nullopt;
}

/// "07-12": with as many digits as the first.
std::optional<Names> numbers_in_range(std::string_view range) {
  const std::size_t dash = range.find('-');
  const std::string_view first = range.substr(0, dash);
  const auto from = number_of(first);
  const auto to = dash == std::string_view::npos ? from : number_of(range.substr(dash + 1));
  if (!from || !to || *to < *from || *to - *from >= kMostNodes) return std::nullopt;
  Names numbers;
  for (std::size_t i = *from; i <= *to; ++i) numbers.push_back(fmt::format("{:0{}}", i, first.size()));
  return numbers;
}

/// "1-4,07"
std::optional<Names> numbers_in(std::string_view ranges) {
  Names all;
  for (std::size_t at = 0; at <= ranges.size();) {
    const std::size_t comma = std::min(ranges.find(',', at), ranges.size());
    const auto some = numbers_in_range(ranges.substr(at, comma - at));
    if (!some || all.size() + some->size() > kMostNodes) return std::nullopt;
    all.insert(all.end(), some->begin(), some->end());
    at = comma + 1;
  }
  return all;
}

/// Each begin with each end.
std::optional<Names> product(const Names& begins, const Names& ends) {
  if (begins.size() * ends.size() > kMostNodes) return std::nullopt;
  Names names;
  for (const std::string& begin : begins)
    for (const std::string& end : ends) names.push_back(begin + end);
  return names;
}

/// "r[0-1]c[3-4]", without a comma outside of brackets.
std::optional<Names> names_in_item(std::string_view item) {
  Names names = {""};
  while (!item.empty()) {
    const std::size_t open = std::min(item.find('['), item.size());
    auto longer = product(names, {std::string(item.substr(0, open))});
    item.remove_prefix(open);
    if (longer && !item.empty()) {
      const std::size_t close = item.find(']');
      const auto numbers = close == std::string_view::npos ? std::nullopt : numbers_in(item.substr(1, close - 1));
      longer = numbers ? product(*longer, *numbers) : std::nullopt;
      item.remove_prefix(std::min(close, item.size() - 1) + 1);
    }
    if (!longer) return std::nullopt;
    names = std::move(*longer);
  }
  return names;
}

/// Where the item that begins at `from` ends: at a comma outside of brackets.
std::size_t end_of_item(const std::string& list, std::size_t from) {
  bool inside = false;
  for (std::size_t at = from; at < list.size(); ++at) {
    if (list[at] == '[' || list[at] == ']') inside = list[at] == '[';
    if (list[at] == ',' && !inside) return at;
  }
  return list.size();
}

std::string node_of_line(std::string line) {
  line = line.substr(0, line.find('#'));
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  std::string word = line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
  if (const std::size_t at = word.find('@'); at != std::string::npos) word.erase(0, at + 1);
  return word.substr(0, word.find(':'));
}

}  // namespace

bool is_node_name(const std::string& name) {
  constexpr const char* kOfNames = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  return !name.empty() && name[0] != '-' && name.find_first_not_of(kOfNames) == std::string::npos;
}

wire::Result<Names> expand_node_list(const std::string& list) {
  Names all;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = end_of_item(list, at);
    const auto names = names_in_item(std::string_view(list).substr(at, end - at));
    if (!names || !std::ranges::all_of(*names, is_node_name) || all.size() + names->size() > kMostNodes)
      return wire::Error{fmt::format("'{}' is no list of up to {} nodes, as n[1-4,7],m2", list, kMostNodes)};
    all.insert(all.end(), names->begin(), names->end());
    at = end + 1;
  }
  return all;
}

wire::Result<Names> nodes_in_host_file(const std::string& path) {
  std::error_code failed;
  // A pipe would be empty for mpirun.
  const bool is_one = std::filesystem::is_regular_file(path, failed);
  if (!is_one || std::filesystem::file_size(path, failed) > kLargestHostFile || failed)
    return wire::Error{fmt::format("{}: {}", path, failed ? failed.message() : "this is no file of names of hosts")};
  std::ifstream file(path);
  if (!file) return wire::Error{fmt::format("{}: {}", path, std::strerror(errno))};
  Names nodes;
  for (std::string line; std::getline(file, line);) {
    const std::string node = node_of_line(line);
    if (node.empty()) continue;
    if (!is_node_name(node) || nodes.size() == kMostNodes)
      return wire::Error{fmt::format("{}: '{}' is no node, or one of more than {}", path, node, kMostNodes)};
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace idlewave::host
