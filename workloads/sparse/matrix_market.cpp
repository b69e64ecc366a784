#include "workloads/sparse/matrix_market.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

namespace idlewave::sparse {
namespace {

using wire::Error;
using wire::Result;
using wire::Status;

constexpr std::size_t kLongestLine = 1024;   // as the format has it
constexpr std::uint64_t kShortestEntry = 4;  // "1 1" and the end of the line

/// The lines of a file from some byte on.
class Lines {
 public:
  Lines(const std::string& path, std::uint64_t begin) : file_(path, std::ios::binary), next_(begin) {
    file_.seekg(static_cast<std::streamoff>(begin));
  }

  /// Without its end. Nothing at the end of the file, and where a line is too long.
  std::optional<std::string_view> read() {
    begin_ = next_;
    file_.getline(line_.data(), static_cast<std::streamsize>(line_.size()));
    too_long_ = file_.fail() && !file_.eof();
    if (too_long_ || (file_.eof() && file_.gcount() == 0)) return std::nullopt;
    const auto length = static_cast<std::size_t>(file_.gcount());
    next_ += length;
    std::string_view line{line_.data(), file_.eof() ? length : length - 1};
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  bool too_long() const { return too_long_; }
  std::uint64_t begin() const { return begin_; }  ///< Of the line that was read last.
  std::uint64_t next() const { return next_; }

 private:
  std::ifstream file_;
  std::array<char, kLongestLine + 3> line_{};
  std::uint64_t begin_ = 0;
  std::uint64_t next_;
  bool too_long_ = false;
};

/// Counts lines, which nobody does while all goes well.
std::int64_t number_of_line_at(const std::string& path, std::uint64_t byte) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 65536> block{};
  std::int64_t number = 1;
  for (std::uint64_t left = byte; left > 0 && file;) {
    file.read(block.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(left, block.size())));
    const auto got = file.gcount();
    number += std::count(block.begin(), block.begin() + got, '\n');
    left -= static_cast<std::uint64_t>(got);
  }
  return number;
}

Error at_line(const std::string& path, std::uint64_t byte, const std::string& what) {
  return {fmt::format("{}: line {}: {}", path, number_of_line_at(path, byte), what)};
}

Error too_long_at(const std::string& path, std::uint64_t byte) {
  return at_line(path, byte, fmt::format("is longer than the {} characters that the format allows", kLongestLine));
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> words;
  for (auto begin = line.find_first_not_of(kBlanks); begin != line.npos; begin = line.find_first_not_of(kBlanks)) {
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(kBlanks)));
    line.remove_prefix(words.back().size());
  }
  return words;
}

bool says_nothing(std::string_view line) { return line.starts_with('%') || words_of(line).empty(); }

template <class Number>
std::optional<Number> number_in(std::string_view word) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  Number number{};
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (status != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

std::string in_small_letters(std::string_view text) {
  std::string small{text};
  for (char& each : small) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return small;
}

/// The first line, which says of what kind the file is. Error: what is wrong with it.
Status take_banner(const std::string& line, MarketHeader& header) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != 5 || words[0] != "%%matrixmarket")
    return Error{"is not \"%%MatrixMarket matrix coordinate FIELD SYMMETRY\", with which such a file begins"};
  const auto one_of = [](std::string_view word, std::initializer_list<std::string_view> accepted) -> Status {
    if (std::ranges::find(accepted, word) != accepted.end()) return wire::ok();
    return Error{fmt::format("\"{}\" is not accepted here, but {}", word, fmt::join(accepted, ", "))};
  };
  for (const auto& each :
       {one_of(words[1], {"matrix"}), one_of(words[2], {"coordinate"}),
        one_of(words[3], {"real", "integer", "pattern"}), one_of(words[4], {"general", "symmetric"})})
    if (!each) return each;
  header.pattern = words[3] == "pattern";
  header.integer = words[3] == "integer";
  header.symmetric = words[4] == "symmetric";
  return wire::ok();
}

Status take_sizes(std::string_view line, MarketHeader& header) {
  std::array<std::int64_t, 3> sizes{};
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() != sizes.size()) return Error{"should have three numbers: rows, columns and entries"};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto number = number_in<std::int64_t>(words[i]);
    if (!number || *number < 0) return Error{fmt::format("\"{}\" is not a whole number from 0 on", words[i])};
    sizes[i] = *number;
  }
  if (sizes[0] != sizes[1])
    return Error{fmt::format("{} rows and {} columns; only square matrices are accepted", sizes[0], sizes[1])};
  if (sizes[0] == 0 || double(sizes[0]) > kMostRows)
    return Error{fmt::format("{} rows; from 1 to {:.0e} are accepted", sizes[0], kMostRows)};
  if (sizes[2] == 0) return Error{"promises no entries; a matrix has one at least"};
  header.rows = sizes[0];
  header.entries = sizes[2];
  return wire::ok();
}

Status check_file(const std::string& path, std::uint64_t& bytes) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return Error{fmt::format("{}: can't be read: {}", path, std::strerror(errno))};
  if (!S_ISREG(about.st_mode)) return Error{fmt::format("{}: is not a regular file; give one in MatrixMarket", path)};
  if (!std::ifstream(path)) return Error{fmt::format("{}: can't be read: {}", path, std::strerror(errno))};
  bytes = static_cast<std::uint64_t>(about.st_size);
  return wire::ok();
}

Result<Index> index_in(std::string_view word, std::string_view what, Index rows) {
  const auto number = number_in<Index>(word);
  if (!number || *number < 1 || *number > rows)
    return Error{fmt::format("{} \"{}\" is not a whole number from 1 to {}", what, word, rows)};
  return *number - 1;
}

Result<double> value_in(const std::vector<std::string_view>& words, const MarketHeader& header) {
  if (header.pattern) return 1.0;
  if (header.integer) {
    const auto whole = number_in<std::int64_t>(words[2]);
    if (!whole) return Error{fmt::format("value \"{}\" is not a whole number, as the first line says", words[2])};
    return static_cast<double>(*whole);
  }
  const auto value = number_in<double>(words[2]);
  if (!value || !std::isfinite(*value)) return Error{fmt::format("value \"{}\" is not a finite number", words[2])};
  return *value;
}

Result<Triplet> triplet_in(std::string_view line, const MarketHeader& header) {
  const std::vector<std::string_view> words = words_of(line);
  const std::size_t wanted = header.pattern ? 2 : 3;
  if (words.size() != wanted)
    return Error{fmt::format("should have {}",
                             header.pattern ? "two numbers: row and column" : "three numbers: row, column and value")};
  const auto row = index_in(words[0], "row", header.rows);
  if (!row) return row.error();
  const auto column = index_in(words[1], "column", header.rows);
  if (!column) return column.error();
  if (header.symmetric && *row < *column)
    return Error{"is above the diagonal, and of a symmetric matrix only entries below it and on it are accepted"};
  const auto value = value_in(words, header);
  if (!value) return value.error();
  return Triplet{*row, *column, *value};
}

void append(const Triplet& triplet, bool symmetric, std::vector<Triplet>& out) {
  out.push_back(triplet);
  if (symmetric && triplet.row != triplet.column) out.push_back({triplet.column, triplet.row, triplet.value});
}

/// Where the first line begins that begins at `byte` or behind it; it is no use to ask at the header's end.
std::uint64_t line_behind(const std::string& path, std::uint64_t byte) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte - 1));
  for (; file; ++byte)
    if (file.get() == '\n') return byte;
  return byte;
}

}  // namespace

Result<MarketHeader> read_market_header(const std::string& path) {
  MarketHeader header{path};
  if (const auto there = check_file(path, header.bytes); !there) return there.error();
  Lines lines(path, 0);
  auto line = lines.read();
  if (lines.too_long()) return too_long_at(path, lines.begin());
  if (const auto taken = take_banner(in_small_letters(line.value_or("")), header); !taken)
    return at_line(path, lines.begin(), taken.error().message);
  do line = lines.read();
  while (line && says_nothing(*line));
  if (lines.too_long()) return too_long_at(path, lines.begin());
  if (!line) return Error{fmt::format("{}: ends before the line with its rows, columns and entries", path)};
  if (const auto taken = take_sizes(*line, header); !taken) return at_line(path, lines.begin(), taken.error().message);
  header.begin = lines.next();
  const std::uint64_t room = header.bytes - std::min(header.begin, header.bytes);
  if (static_cast<std::uint64_t>(header.entries) > (room + 1) / kShortestEntry)
    return at_line(path, lines.begin(),
                   fmt::format("promises {} entries, and {} B follow, which can't hold them", header.entries, room));
  return header;
}

Result<MarketPart> read_market_part(const MarketHeader& header, int part, int parts) {
  const std::uint64_t length = header.bytes - std::min(header.begin, header.bytes);
  const auto edge = [&](int number) {
    const auto of = static_cast<std::uint64_t>(parts), each = static_cast<std::uint64_t>(number);
    return header.begin + length / of * each + length % of * each / of;
  };
  const std::uint64_t begin = part == 0 ? edge(part) : line_behind(header.path, edge(part));
  const std::uint64_t end = edge(part + 1);
  MarketPart read;
  Lines lines(header.path, begin);
  while (lines.next() < end) {
    const auto line = lines.read();
    if (lines.too_long()) return too_long_at(header.path, lines.begin());
    if (!line) break;
    if (says_nothing(*line)) continue;
    const auto triplet = triplet_in(*line, header);
    if (!triplet) return at_line(header.path, lines.begin(), triplet.error().message);
    ++read.lines;
    append(*triplet, header.symmetric, read.triplets);
  }
  return read;
}

Status check_lines(const MarketHeader& header, std::int64_t lines) {
  if (lines == header.entries) return wire::ok();
  return Error{fmt::format("{}: promises {} entries and has {}; correct the line with the sizes", header.path,
                           header.entries, lines)};
}

}  // namespace idlewave::sparse
