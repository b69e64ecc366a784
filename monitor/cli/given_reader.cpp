#include "monitor/cli/given_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "probe/words/number.h"
#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "probe/words/whole.h"

namespace idlewave::cli {
namespace {

using Kind = Accepted::Kind;

constexpr int kFarthest = 1000;

/// "2 to 40", "from 1"
std::string bounds_in_words(double least, double most) {
  return most == std::numeric_limits<double>::infinity() ? fmt::format("from {:.10g}", least)
                                                         : fmt::format("{:.10g} to {:.10g}", least, most);
}

wire::Result<double> parse_number(std::string_view given, const Accepted& accepted) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const auto number = words::parse_number(given, accepted.least, std::min(accepted.most, kMost));
  if (number || accepted.least < accepted.most) return number;
  return wire::Error{fmt::format("\"{}\" is not {}, which is all that the other figures leave", given, accepted.least)};
}

wire::Result<double> parse_figure(std::string_view given, const Accepted& accepted) {
  const auto as_number = [](const auto& parsed) {
    return parsed ? wire::Result<double>(double(*parsed)) : parsed.error();
  };
  switch (accepted.kind) {
    case Kind::kWhole: return as_number(words::parse_whole<int>(given, int(accepted.least), int(accepted.most)));
    case Kind::kSize: return as_number(words::parse_bytes(given));
    case Kind::kBandwidth: return words::parse_bandwidth(given);
    case Kind::kTime: {
      const auto time = words::parse_duration(given);
      return time ? wire::Result<double>(std::chrono::duration<double>(*time).count()) : time.error();
    }
    default: return parse_number(given, accepted);
  }
}

}  // namespace

std::string in_words(const Accepted& accepted) {
  switch (accepted.kind) {
    case Kind::kTime: return "a time from 0 s";
    case Kind::kSize: return fmt::format("a size from 0 B to {}", words::format_bytes(words::kMaxBytes));
    case Kind::kBandwidth: return "a size per second, above 0 B/s";
    case Kind::kWord: return fmt::format("{}", fmt::join(accepted.words, " or "));
    case Kind::kDistances: return fmt::format("whole numbers but 0, {} to {}, as in -1,1", -kFarthest, kFarthest);
    default: return accepted.unit + ", " + bounds_in_words(accepted.least, accepted.most);
  }
}

double GivenReader::number(const char* key, double most) {
  Accepted accepted = given(key).accepted;
  accepted.most = std::min(accepted.most, most);
  const auto value = parse_figure(text(key), accepted);
  if (!value) return refuse(key, value.error().message + unless_given(key)), 1;
  taken_.push_back({key, *value, std::move(accepted)});
  return *value;
}

int GivenReader::choice(const char* key) {
  const Accepted& accepted = given(key).accepted;
  const std::string& word = text(key);
  const auto found = std::ranges::find(accepted.words, word);
  taken_.push_back({key, word, accepted});
  if (found != accepted.words.end()) return int(found - accepted.words.begin());
  refuse(key, accepted.words.size() == 2 ? fmt::format("\"{}\" is neither {}", word, fmt::join(accepted.words, " nor "))
                                         : fmt::format("\"{}\" is none of {}", word, fmt::join(accepted.words, ", ")));
  return 0;
}

std::vector<int> GivenReader::distances(const char* key) {
  std::vector<int> distances;
  for (const std::string_view word : words::split(text(key), ',')) {
    const auto distance = words::parse_whole<int>(word, -kFarthest, kFarthest);
    if (!distance || *distance == 0)
      refuse(key, fmt::format("\"{}\" is no distance: whole numbers but 0, as in -1,1", word));
    else
      distances.push_back(*distance);
  }
  taken_.push_back({key, distances, given(key).accepted});
  return distances;
}

void GivenReader::refuse(const char* key, const std::string& why) {
  if (error_.empty()) error_ = fmt::format("{}: {}", key, why);
}

const Given& GivenReader::given(const char* key) const { return *std::ranges::find(asked_, key, &Given::key); }

const std::string& GivenReader::text(const char* key) const {
  const auto word = words_.find(key);
  return word != words_.end() ? word->second : given(key).value;
}

/// What is refused though nobody said it.
std::string GivenReader::unless_given(const char* key) const {
  return words_.contains(key) ? "" : fmt::format("; it is {} unless you say otherwise: {}=...", text(key), key);
}

}  // namespace idlewave::cli
