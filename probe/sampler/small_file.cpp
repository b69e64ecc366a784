#include "probe/sampler/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace idlewave::sampler {

Content read_start(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {"", errno};
  std::array<char, 4096> piece;
  const ssize_t got = read(file, piece.data(), piece.size());
  const int error = got < 0 ? errno : 0;
  close(file);
  return {std::string(piece.data(), std::size_t(std::max<ssize_t>(got, 0))), error};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::optional<std::uint64_t> whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  return whole_number(first_line(read_start(path).text));
}

}  // namespace idlewave::sampler
