#include "workloads/support/noise_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "probe/words/noise.h"
#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "workloads/support/input_file.h"

namespace idlewave::support {
namespace {

using wire::Error;
using wire::Nanoseconds;
using wire::Result;

constexpr std::size_t kMostTraceBytes = 256'000'000;
constexpr std::string_view kSpaces = " \t\r";
constexpr std::string_view kAccepted = "write START, DURATION such as 1.5 ms, 20 us, or two numbers of nanoseconds";

struct Fields {
  std::string start;
  std::string duration;
};

/// The two fields of a line, with their units; nothing if there are not two. `line` is trimmed.
std::optional<Fields> split(std::string_view line, bool has_comma) {
  const auto end = has_comma ? line.find(',') : line.find_first_of(kSpaces);
  if (end == std::string_view::npos) return {};
  const std::string_view start = words::trimmed(line.substr(0, end));
  const std::string_view duration = words::trimmed(line.substr(end + 1));
  if (start.empty() || duration.empty()) return {};
  if (has_comma) return Fields{std::string{start}, std::string{duration}};
  if (duration.find_first_of(kSpaces) != std::string_view::npos) return {};
  return Fields{fmt::format("{}ns", start), fmt::format("{}ns", duration)};
}

bool is_heading(const Fields& fields) { return fields.start == "start" && fields.duration == "duration"; }

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  wire::Status read(std::string_view text) {
    while (!text.empty()) {
      ++line_number_;
      const auto end = std::min(text.find('\n'), text.size());
      if (const auto status = read_line(words::trimmed(text.substr(0, end))); !status) return status;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return check_whole();
  }

  NoiseTrace take() && { return std::move(trace_); }

 private:
  Error refuse(std::string_view why) const { return {fmt::format("{}:{}: {}", name_, line_number_, why)}; }

  wire::Status read_line(std::string_view line) {
    if (line.empty() || line.front() == '#') return wire::ok();
    const bool has_comma = line.find(',') != std::string_view::npos;
    if (has_comma_.value_or(has_comma) != has_comma) {
      return refuse("lines with and without a comma can't be mixed, since only the latter are in nanoseconds");
    }
    const bool first = !has_comma_;
    has_comma_ = has_comma;
    const auto fields = split(line, has_comma);
    if (!fields) return refuse(fmt::format("\"{}\" is not a start and a duration; {}", line, kAccepted));
    if (first && is_heading(*fields)) return wire::ok();
    return add(*fields);
  }

  wire::Status add(const Fields& fields) {
    const auto start = words::parse_duration(fields.start);
    if (!start) return refuse(start.error().message);
    const auto duration = words::parse_duration(fields.duration);
    if (!duration) return refuse(duration.error().message);
    if (!trace_.empty() && *start < trace_.back().start) {
      return refuse("begins before the line before it; sort the lines by their start");
    }
    if (*duration > Nanoseconds::max() - std::max(*start, busy_))
      return refuse("is too large; a trace ends within 292 years");
    busy_ += *duration;
    trace_.push_back({*start, *duration});
    return wire::ok();
  }

  wire::Status check_whole() const {
    if (trace_.empty()) return Error{fmt::format("{}: holds no interruption; {}", name_, kAccepted)};
    const Nanoseconds end = trace_.back().start + trace_.back().duration;
    if (words::leaves_time(busy_, end)) return wire::ok();
    return Error{
        fmt::format("{}: leaves no time for work, since its interruptions take {} of {}; leave a thousandth, and say "
                    "when the trace ends by a "
                    "last line with "
                    "that time and a duration of 0",
                    name_, words::format_duration(busy_), words::format_duration(end))};
  }

  std::string_view name_;
  int line_number_ = 0;
  std::optional<bool> has_comma_;
  Nanoseconds busy_{};
  NoiseTrace trace_;
};

}  // namespace

Result<NoiseTrace> parse_noise_trace(std::string_view text, std::string_view name) {
  Reader reader{name};
  if (const auto status = reader.read(text); !status) return status.error();
  return std::move(reader).take();
}

std::string to_text(const NoiseTrace& trace) {
  std::string text;
  for (const Detour& detour : trace)
    fmt::format_to(std::back_inserter(text), "{}\t{}\n", detour.start.count(), detour.duration.count());
  return text;
}

Result<NoiseTrace> load_noise_trace(const Noise& noise, const std::filesystem::path& folder) {
  const auto* wanted = std::get_if<TraceNoise>(&noise.distribution);
  if (wanted == nullptr) return NoiseTrace{};
  return read_noise_trace(folder / wanted->file, kMostTraceBytes,
                          "noise.file is the path of a noise trace, from the scenario's folder");
}

Result<NoiseTrace> read_noise_trace(const std::filesystem::path& path, std::size_t most, std::string_view wanted) {
  const auto text = read_input_file(path, most, wanted);
  return text ? parse_noise_trace(*text, path.string()) : text.error();
}

}  // namespace idlewave::support
