#include "workloads/hybrid/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/quantity.h"
#include "probe/words/sides.h"
#include "workloads/ranks/flags.h"

namespace idlewave::hybrid {
namespace {

using arguments::CommandLine;
using ranks::add;
using ranks::add_choice;
using ranks::add_choices;
using ranks::whole;
using wire::Error;
using wire::Result;
using wire::Status;

constexpr const char* kAbout =
    "iw-hybrid: a stencil on processes with threads. Which threads communicate, and what do the others do meanwhile?\n"
    "Start it with mpirun; with --threads 1 it is pure MPI.\nPaper: R07 = Rabenseifner: Hybrid parallel programming "
    "(lecture, 2007), slides on masteronly, on overlapping computation and communication, and on the performance "
    "ratio.";

constexpr words::Choices<Mode, 3> kModes{
    {{"masteronly", Mode::kMasteronly}, {"funneled", Mode::kFunneled}, {"multiple", Mode::kMultiple}}};

Result<Box> parse_box(std::string_view text) {
  const auto sides =
      words::parse_sides(text, {.fewest = 3, .most = 3, .shortest = 2, .longest = 100'000, .example = "48x32x32"});
  if (!sides) return sides.error();
  Box box;
  std::ranges::copy(*sides, box.size.begin());
  return box;
}

void add_program(CommandLine& app, Options& o) {
  add(app, "--size", o.box, parse_box,
      "Points of the box along x, which is shared out among the processes, y and z. [48x32x32]")
      .type_name("XxYxZ");
  add_choices<Mode>(
      app, "--modes", o.modes, kModes,
      "masteronly: one thread communicates while the others sleep. funneled: one thread is reserved for it, and the "
      "others work on points that need nothing of other processes. multiple: several threads are, each of which sends "
      "and receives its share of every message (R07). [masteronly,funneled]")
      .type_name("NAME,...");
  ranks::add_reserved(app, o.reserved);
  add(app, "--threads", o.threads, whole<int, 1, 1024>, "OpenMP threads of each process. [2]").type_name("N");
  add(app, "--steps", o.steps, whole<std::int64_t, 1, 1'000'000'000>, "Iterations in each mode. [200]").type_name("N");
  add_choice<Kernel>(
      app, "--kernel", o.kernel, ranks::kKernels,
      "virtual: threads compute and then wait for as long as their points and messages would take, so that any number "
      "of threads fits on any machine. [real]")
      .type_name("NAME");
  add(app, "--point-time", o.point_time, words::parse_duration, "kernel virtual: of one point on one thread. [1us]")
      .type_name("DURATION");
  add(app, "--message-bandwidth", o.message_bandwidth, words::parse_bandwidth,
      "kernel virtual: of one thread that communicates. [20 MB/s]")
      .type_name("RATE");
}

Status check(const CommandLine& app, const Options& o, int ranks) {
  for (const char* flag : {"--point-time", "--message-bandwidth"})
    if (app.count(flag) > 0 && o.kernel == Kernel::kReal)
      return Error{fmt::format("{} belongs to --kernel virtual", flag)};
  if (o.box.size[0] < ranks)
    return Error{fmt::format("--size: {} planes are fewer than the {} ranks of the job", o.box.size[0], ranks)};
  return ranks::check_ways(app, ways_of(o), o.threads, Mode::kMultiple);
}

}  // namespace

std::string_view name_of(Mode mode) { return words::word_of(mode, kModes); }

std::vector<Way> ways_of(const Options& options) {
  return ranks::ways_of(options.modes, options.reserved, Mode::kFunneled, Mode::kMultiple);
}

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks) {
  Options options;
  CommandLine app{kAbout, ranks::name_called(argv)};
  app.put_texts_below();
  app.add_version("iw-hybrid " IDLEWAVE_VERSION);
  add_program(app, options);
  app.add_flag("--json", options.json, "Print one JSON object instead of a table.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, app.name());
    return std::variant<Options, Text>{Text{ending->text}};
  }
  if (options.threads == 1 && app.count("--modes") == 0) options.modes = {Mode::kMasteronly};
  const Status checked = check(app, options, ranks);
  if (!checked) return checked.error();
  return std::variant<Options, Text>{std::move(options)};
}

}  // namespace idlewave::hybrid
