#include "workloads/selfish/options.h"

#include <fmt/format.h>

#include "probe/words/quantity.h"
#include "workloads/ranks/flags.h"

namespace idlewave::selfish {
namespace {

using arguments::CommandLine;
using ranks::add;
using ranks::whole;
using wire::Error;
using wire::Nanoseconds;
using wire::Result;

constexpr const char* kAbout =
    "iw-selfish: measures what interrupts a processor. A loop reads the clock; an iteration that takes much longer "
    "than the shortest one held a detour.\nPrints how long detours are and what share of the time they take. Alone, or "
    "one on each core with mpirun; ranks that share a core measure each other.\nPapers: HSL10 = Hoefler, Schneider, "
    "Lumsdaine: Characterizing the influence of system noise on large-scale applications by simulation, SC10\n(selfish "
    "of netgauge). WLFH16 = Widener, Levy, Ferreira, Hoefler: On noise and the performance benefit of nonblocking "
    "collectives, 2016, section 3.1, Figs. 3 and 4.";

constexpr Nanoseconds kLongest = std::chrono::hours{24};
constexpr std::uint64_t kMostDetours = 5'000'000;  // what a reader of traces takes

Result<Nanoseconds> duration_of_run(std::string_view text) {
  const auto duration = words::parse_duration(text);
  if (!duration) return duration.error();
  if (duration->count() == 0 || *duration > kLongest)
    return Error{fmt::format("\"{}\" is not above zero and at most 24 h", text)};
  return *duration;
}

Result<std::optional<Nanoseconds>> given_threshold(std::string_view text) {
  const auto threshold = words::parse_duration(text);
  if (!threshold) return threshold.error();
  return std::optional{*threshold};
}

void add_measurement(CommandLine& app, Options& o) {
  add(app, "--duration", o.duration, duration_of_run, "How long to measure (WLFH16 sec. 3.1). [5s]")
      .type_name("DURATION");
  add(app, "--detours", o.most_detours, whole<std::uint64_t, 1, kMostDetours>,
      "A rank that has found so many stops before. [1000000]")
      .type_name("N");
  add(app, "--times", o.times_shortest, whole<int, 2, 1'000'000>,
      "An iteration that takes more than so many times the shortest one holds a detour (HSL10). [9]")
      .type_name("N");
  add(app, "--threshold", o.threshold, given_threshold, "Or one that takes more than that.").type_name("DURATION");
  app.add_flag("--pin,!--no-pin", o.pin,
               "Pin ranks to cores in turn, unless the launcher has bound them already. [--pin]");
}

void add_output(CommandLine& app, Options& o) {
  app.add(
         "--trace", o.trace,
         "Write what was found as a noise trace: each line begin and duration of a detour in nanoseconds, as scenarios "
         "(noise.file), --noise trace:FILE of our other programs and LogGOPSim read it. Of several ranks each writes "
         "FILE.RANK (WLFH16 sec. 2.2).")
      .type_name("FILE");
  app.add_flag("--json", o.json, "Print one JSON object instead of text.");
}

}  // namespace

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv) {
  Options options;
  CommandLine app{kAbout, "iw-selfish"};
  app.put_texts_below();
  app.add_version("iw-selfish " IDLEWAVE_VERSION);
  add_measurement(app, options);
  add_output(app, options);
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, "iw-selfish");
    return std::variant<Options, Text>{Text{ending->text}};
  }
  if (app.count("--times") > 0 && options.threshold)
    return Error{"--times: --threshold says from when on an iteration holds a detour; give one of both"};
  return std::variant<Options, Text>{std::move(options)};
}

}  // namespace idlewave::selfish
