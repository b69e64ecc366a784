#include "workloads/sim/sweep/options.h"

#include <fmt/format.h>

#include <limits>
#include <sstream>
#include <utility>

#include "probe/arguments/command_line.h"
#include "probe/words/whole.h"
#include "probe/words/window.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::sweep {
namespace {

using arguments::CommandLine;

constexpr std::uint64_t kMostValues = 100'000;
constexpr int kMostThreads = 4096;

/// "1..10": every whole number from one to the other.
std::optional<std::vector<std::string>> range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto whole = [](std::string_view end) {
    return words::parse_whole<std::int64_t>(end, std::numeric_limits<std::int64_t>::min(),
                                            std::numeric_limits<std::int64_t>::max());
  };
  const auto first = whole(std::string_view(text).substr(0, dots));
  const auto last = whole(std::string_view(text).substr(dots + 2));
  if (!first || !last || *last < *first || std::uint64_t(*last) - std::uint64_t(*first) >= kMostValues)
    return std::nullopt;
  std::vector<std::string> values;
  for (std::int64_t value = *first; value <= *last; ++value) values.push_back(std::to_string(value));
  return values;
}

std::vector<std::string> list_of(const std::string& text) {
  std::istringstream parts(text);
  std::vector<std::string> values;
  for (std::string value; std::getline(parts, value, ',');) values.push_back(value);
  return values;
}

}  // namespace

void add_settings(CommandLine& app, std::vector<std::string>& settings) {
  app.add_texts(
         "--set",
         [&settings](const std::vector<std::string>& texts) {
           settings.insert(settings.end(), texts.begin(), texts.end());
         },
         "Another value for a key of the scenario, as in machine.ranks=4000; KEY= takes the key out")
      .type_name("KEY=VALUE")
      .one_word_each();
  app.add_text(
         "--machine",
         [&settings](const std::string& path) {
           const auto machine = support::load_machine(path);
           if (!machine) arguments::refuse("--machine", machine.error().message);
           const auto of_machine = support::settings_of(*machine);
           settings.insert(settings.begin(), of_machine.begin(), of_machine.end());
         },
         "Domains and bandwidths from this file, which `idlewave calibrate` writes, instead of the scenario's")
      .type_name("FILE");
}

void add_options(CommandLine& app, Options& o) {
  app.add("scenario", o.scenario, "Scenario file (TOML)").type_name("FILE");
  add_settings(app, o.settings);
  app.add_texts(
         "--sweep",
         [&o](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             auto key = parse_sweep(text);
             if (!key) arguments::refuse("--sweep", key.error().message);
             o.sweep.push_back(std::move(*key));
           }
         },
         "One run for each value, on all cores: machine.ranks_per_domain=1..10 or delay.0.duration=0.6s,1.2s; several "
         "make all combinations")
      .type_name("KEY=VALUES")
      .one_word_each();
  app.add("--against", o.against,
          "With --sweep: each run also with this setting; speedup is the one makespan over the other")
      .type_name("KEY=VALUE");
  app.add("--csv", o.csv, "With --sweep: the rows as CSV; - is stdout").type_name("FILE");
  app.add_flag("--chart", o.chart, "With --against: draw speedup over the first numeric key of the sweep");
  app.add_flag("--study", o.study, "Sweep and chart as the scenario's [study] says");
  app.add_int(
         "--threads", [&o](int threads) { o.threads = threads; },
         "With --sweep: runs at the same time, on each rank (one for each core)")
      .type_name("N")
      .within(1, kMostThreads);
  app.add_text(
         "--window",
         [&o](const std::string& text) {
           const auto window = words::parse_window(text);
           if (!window) arguments::refuse("--window", window.error().message);
           o.window = *window;
         },
         "Part of the run for the averages, as fractions of the makespan (0.5:0.95)")
      .type_name("FROM:TO");
  app.add_flag("--without-delays", o.without_delays, "Leave out the scenario's delays");
  app.add_flag("--json", o.json, "Print the result as JSON");
}

wire::Status check(const Options& o) {
  using wire::Error;
  const bool sweeps = !o.sweep.empty() || o.study;
  if (!o.against.empty() && !sweeps) return Error{"--against: goes with --sweep"};
  if (!o.csv.empty() && !sweeps) return Error{"--csv: goes with --sweep"};
  if (o.chart && o.against.empty() && !o.study) return Error{"--chart: goes with --against, whose speedup it draws"};
  if (o.study && (!o.sweep.empty() || !o.against.empty()))
    return Error{"--study: says itself what to sweep; leave out --sweep and --against"};
  if (o.json && (o.chart || o.csv == "-"))
    return Error{"--json: goes without --chart and --csv -, which go to stdout as well"};
  if (o.threads && o.sweep.empty()) return Error{"--threads: goes with --sweep; a single run takes one core"};
  return wire::ok();
}

Parsed parse(int argc, char** argv) {
  CommandLine app{"Sweeps the values of a scenario's keys, its runs shared out among MPI ranks", "idlewave sim"};
  app.add_version(std::string("idlewave ") + IDLEWAVE_VERSION);
  Options options;
  add_options(app, options);
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return {.options = std::nullopt, .text = {}, .complaint = ending->text};
    return {.options = std::nullopt, .text = ending->text, .complaint = {}};
  }
  auto checked = check(options);
  if (checked && options.scenario.empty()) checked = wire::Error{"scenario: name a scenario file"};
  if (checked && options.study) checked = take_study(options);
  if (!checked) return {.options = std::nullopt, .text = {}, .complaint = checked.error().message};
  return {.options = std::move(options), .text = {}, .complaint = {}};
}

wire::Result<SweptKey> parse_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return wire::Error{fmt::format("'{}': accepted are KEY=FIRST..LAST and KEY=VALUE,VALUE,...", text)};
  }
  SweptKey key{text.substr(0, equals), {}};
  const std::string values = text.substr(equals + 1);
  if (auto range = range_of(values))
    key.values = std::move(*range);
  else if (values.find("..") != std::string::npos)
    return wire::Error{
        fmt::format("'{}': a range is FIRST..LAST of whole numbers, at most {} of them", text, kMostValues)};
  else
    key.values = list_of(values);
  return key;
}

wire::Status take_study(Options& options) {
  const auto scenario = support::load_scenario(options.scenario, options.settings);
  if (!scenario) return scenario.error();
  if (!scenario->study) return wire::Error{options.scenario.string() + ": has no [study]"};
  for (const std::string& text : scenario->study->sweep) {
    auto key = parse_sweep(text);
    if (!key) return wire::Error{fmt::format("{}: study.sweep: {}", options.scenario.string(), key.error().message)};
    options.sweep.push_back(std::move(*key));
  }
  options.against = scenario->study->against;
  options.chart = !options.json && options.csv != "-" && !options.against.empty();
  return wire::ok();
}

}  // namespace idlewave::sim::sweep
