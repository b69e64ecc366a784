#include "monitor/link/greeting.h"

#include <algorithm>

#include "probe/wire/printable.h"

namespace idlewave::link {
namespace {

std::string field(std::string_view text) {
  std::string result = wire::printable(text);
  std::ranges::replace(result, '\t', ' ');
  return result;
}

std::vector<std::string> fields_in(std::string_view line) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = line.find('\t', begin);
    fields.emplace_back(line.substr(begin, end - begin));
  }
  return fields;
}

/// Behind the word.
wire::Result<std::vector<std::string>> fields_of(const GreetingKind& kind, std::string_view line) {
  std::vector<std::string> fields = fields_in(line);
  if (line.ends_with('\r'))
    return wire::Error{"a terminal stands between, which changes what passes: leave out what asks for one (ssh -t)"};
  if (fields[0] != kind.version)
    return wire::Error{"it speaks version " + wire::printable(fields[0]) + " of the stream, and this program " +
                       std::string(kind.version) + ": the same idlewave is needed on both sides"};
  if (fields.size() != 1 + kind.fields) return damaged_greeting(line);
  fields.erase(fields.begin());
  return fields;
}

}  // namespace

std::string greeting_line(const GreetingKind& kind, std::initializer_list<std::string_view> fields) {
  std::string line = std::string(kind.word) + '\t' + std::string(kind.version);
  for (const std::string_view each : fields) line += '\t' + field(each);
  return line + '\n';
}

std::optional<wire::Result<GreetingLine>> find_greeting_line(const GreetingKind& kind, std::string_view text) {
  const std::string mark = std::string(kind.word) + '\t';
  const std::size_t found = text.find(mark);
  if (found == std::string_view::npos) return std::nullopt;
  const std::size_t begin = found + mark.size(), end = text.find('\n', begin);
  if (end == std::string_view::npos) return std::nullopt;
  auto fields = fields_of(kind, text.substr(begin, end - begin));
  if (!fields) return fields.error();
  return GreetingLine{std::move(*fields), std::string(text.substr(0, found))};
}

wire::Error damaged_greeting(std::string_view line) {
  return {"its greeting is damaged: '" + wire::printable(line) + "'"};
}

}  // namespace idlewave::link
