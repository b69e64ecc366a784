#include "monitor/cli/calibration/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "monitor/cli/verbs.h"
#include "probe/arguments/command_line.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::calibration {
namespace {

using arguments::CommandLine;
using namespace std::chrono_literals;

constexpr Nanoseconds kShortest = 1ms, kLongest = 10s;
constexpr std::uint64_t kSmallest = 1'000'000;
constexpr int kLeastRepeats = 3, kMostRepeats = 1000;  ///< Of two nobody can tell which is disturbed.

void take_kernel(std::vector<StreamKind>& kinds, const std::string& name) {
  const auto kind = words::parse_choice<StreamKind>(name, all_loops());
  if (!kind) arguments::refuse("--kernel", kind.error().message);
  if (std::ranges::find(kinds, *kind) == kinds.end()) kinds.push_back(*kind);
}

void add_flags(CommandLine& app, Options& o) {
  app.add("-o,--output", o.output, "Write the machine file, for --machine of `idlewave run`, `demo`, `sim` and `study`")
      .type_name("FILE");
  app.add_texts(
         "--kernel",
         [&o](const std::vector<std::string>& names) {
           for (const std::string& name : names) take_kernel(o.plan.kinds, name);
         },
         "Loop to measure: triad, triad-nt (non-temporal stores), slow-triad; may be given again (all). The machine "
         "file is of the first")
      .type_name("NAME")
      .one_word_each();
  app.add_text(
         "--size",
         [&o](const std::string& text) {
           const auto bytes = words::parse_bytes_within(text, kSmallest);
           if (!bytes) arguments::refuse("--size", bytes.error().message);
           o.plan.array_bytes = *bytes;
         },
         "Of each array, which all cores share out among them (four times the last-level cache, as STREAM asks for)")
      .type_name("SIZE");
  app.add_text(
         "--time",
         [&o](const std::string& text) {
           const auto time = words::parse_duration(text);
           if (!time) arguments::refuse("--time", time.error().message);
           if (*time < kShortest || *time > kLongest) arguments::refuse("--time", "must be from 1ms to 10s");
           o.plan.time = *time;
         },
         "Of one measurement (50ms)")
      .type_name("TIME");
  app.add("--repeats", o.plan.repeats, "Measurements for each kernel and number of cores (11)")
      .type_name("N")
      .within(std::int64_t{kLeastRepeats}, std::int64_t{kMostRepeats});
  app.add_flag("--likwid,!--no-likwid", o.likwid, "Also ask likwid-bench, if it is installed (yes)");
  app.add_flag("--json", o.json, "Print the result as JSON");
}

constexpr const char* kAbout =
    "Measures b(n), the memory bandwidth that n cores of a contention domain draw together, for n = 1 to all of them, "
    "and where it saturates: Fig. 3a and section 4.2 of A. Afzal, G. Hager, G. Wellein, \"Desynchronization and wave "
    "pattern formation in MPI-parallel and hybrid memory-bound programs\" (2020)";

constexpr const char* kFooter =
    "N_sc is the smallest n whose bandwidth lies within 5 % of the largest. Values are medians of the repeats, "
    "intervals hold 95 % (bootstrap). Bytes are those that cross the memory interface: an ordinary store also reads "
    "the line that it writes (write-allocate), a non-temporal one does not; what STREAM counts stands beside it.\n"
    "Exit codes: 0; 1 if it failed; 2 for a wrong call; 3 if the machine is busy (other programs took more than 5 % of "
    "the processors' time, other virtual machines more than 2 %, or repeats scatter by more than 10 %): then nothing "
    "is kept.";

}  // namespace

Parsed parse(int argc, char** argv) {
  CommandLine app{kAbout, "idlewave calibrate"};
  Options options;
  options.plan.time = 50ms;
  options.plan.repeats = 11;
  add_flags(app, options);
  app.footer(kFooter);
  app.put_texts_below();
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return {{}, fail(ending->text, 2)};
    return print(ending->text), Parsed{};
  }
  if (options.plan.kinds.empty()) options.plan.kinds = all_kinds();
  return {std::move(options), 0};
}

}  // namespace idlewave::cli::calibration
