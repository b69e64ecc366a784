#include "workloads/sim/sweep/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "workloads/sim/sweep/chart.h"
#include "workloads/support/json.h"

namespace idlewave::sim::sweep {
namespace {

using json = support::Json;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / double(values.size());
}

/// Of each key in turn.
std::vector<std::string> values_of(const Options& options, std::size_t number) {
  std::vector<std::string> values = settings_of(options.sweep, number);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].erase(0, options.sweep[i].key.size() + 1);
  return values;
}

std::string line_of(const Options& options, std::size_t number, const Row& run) {
  std::string text;
  for (const std::string& setting : settings_of(options.sweep, number)) text += setting + "  ";
  text += fmt::format("makespan {:.6f} s", run.makespan);
  if (!run.active_means.empty()) text += fmt::format("  active {:.3f} of a domain", mean(run.active_means));
  if (run.against > 0)
    text += fmt::format("  with {} {:.6f} s: speedup {:.3f}", options.against, run.against, run.speedup());
  return text + "\n";
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str();
}

/// The first key whose values begin with a number; the first of all if there is none.
std::size_t axis_of(const std::vector<SweptKey>& keys) {
  const auto numeric =
      std::ranges::find_if(keys, [](const SweptKey& key) { return std::ranges::all_of(key.values, is_number); });
  return numeric == keys.end() ? 0 : std::size_t(numeric - keys.begin());
}

/// 1024 as 1Ki.
std::string short_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1024 || value % 1024 != 0) return text;
  return fmt::format("{}Ki", value / 1024);
}

/// Values as they stand on an axis: numbers of one unit in ascending order, others as they were given.
std::vector<std::string> places_of(std::vector<std::string> values) {
  const auto unit = [](const std::string& value) {
    char* end = nullptr;
    std::strtod(value.c_str(), &end);
    return std::string_view(end);
  };
  const auto has_same_unit = [&](const std::string& value) {
    return is_number(value) && unit(value) == unit(values.front());
  };
  if (std::ranges::all_of(values, has_same_unit))
    std::ranges::stable_sort(values, {}, [](const std::string& value) { return std::strtod(value.c_str(), nullptr); });
  return values;
}

/// A chart for each combination of the keys but the axis and the last other one, whose values are its curves.
std::string charts_of(const Options& options, const std::vector<Row>& rows) {
  const std::size_t axis = axis_of(options.sweep);
  const std::vector<std::string> places = places_of(options.sweep[axis].values);
  std::vector<Chart> charts;
  for (std::size_t number = 0; number < rows.size(); ++number) {
    const auto values = values_of(options, number);
    std::string title, name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == axis) continue;
      if (!name.empty()) title += (title.empty() ? "" : ", ") + name;
      name = options.sweep[i].key + " = " + values[i];
    }
    if (name.empty()) name = "speedup";
    auto chart = std::ranges::find(charts, title, &Chart::title);
    if (chart == charts.end()) {
      Chart fresh{
          title, options.sweep[axis].key, {}, fmt::format("speedup with {} (ratio of makespans)", options.against), {}};
      for (const std::string& place : places) fresh.x_labels.push_back(short_number(place));
      chart = charts.insert(charts.end(), std::move(fresh));
    }
    auto curve = std::ranges::find(chart->curves, name, &Curve::name);
    if (curve == chart->curves.end())
      curve = chart->curves.insert(chart->curves.end(), {name, std::vector<std::optional<double>>(places.size())});
    curve->values[std::size_t(std::ranges::find(places, values[axis]) - places.begin())] = rows[number].speedup();
  }
  std::string text;
  for (const Chart& chart : charts) text += (text.empty() ? "" : "\n") + draw(chart);
  return text;
}

json json_of(const Options& options, std::size_t number, const Row& run) {
  json object;
  const auto values = values_of(options, number);
  for (std::size_t i = 0; i < values.size(); ++i) object["set"][options.sweep[i].key] = values[i];
  object["makespan_s"] = run.makespan;
  object["rank_steps"] = run.rank_steps;
  if (!run.active_means.empty()) object["active_means"] = run.active_means;
  if (run.against > 0) {
    object["against_makespan_s"] = run.against;
    object["speedup"] = run.speedup();
  }
  return object;
}

}  // namespace

std::string csv_of(const Options& options, const std::vector<Row>& rows) {
  std::string text;
  for (const SweptKey& key : options.sweep) text += quoted(key.key) + ",";
  text += options.against.empty() ? "makespan_s\n" : "makespan_s,against_makespan_s,speedup\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& value : values_of(options, i)) text += quoted(value) + ",";
    text += fmt::format("{:.9f}", rows[i].makespan);
    text += options.against.empty() ? "\n" : fmt::format(",{:.9f},{:.6f}\n", rows[i].against, rows[i].speedup());
  }
  return text;
}

wire::Status write_csv(const Options& options, const std::vector<Row>& rows) {
  const std::string text = csv_of(options, rows);
  if (std::error_code failed; std::filesystem::equivalent(options.csv, options.scenario, failed))
    return wire::Error{options.csv + ": is the scenario itself; name another file"};
  std::FILE* const file = std::fopen(options.csv.c_str(), "w");
  const bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file && std::fclose(file) == 0;
  if (written && closed) return wire::ok();
  return wire::Error{fmt::format("{}: {}", options.csv, std::strerror(errno))};
}

std::string text_of(const Options& options, const std::vector<Row>& rows) {
  if (options.json) {
    json list = json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) list.push_back(json_of(options, i, rows[i]));
    return list.text() + "\n";
  }
  if (options.chart) return charts_of(options, rows);
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) text += line_of(options, i, rows[i]);
  return text;
}

}  // namespace idlewave::sim::sweep
