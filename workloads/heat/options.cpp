#include "workloads/heat/options.h"

#include <fmt/format.h>

#include "probe/words/whole.h"
#include "workloads/ranks/flags.h"

namespace idlewave::heat {
namespace {

using arguments::CommandLine;
using ranks::whole;
using wire::Error;
using wire::Result;
using wire::Status;

constexpr const char* kAbout =
    "iw-heat: heat in a square plate on processes with threads, whose rows come from other processes by messages, or "
    "page by page out of a memory\nthat all of them share. What does a step take, and how much of it is communication, "
    "over the size of the plate? Start it with mpirun. --threads 1\nis pure MPI, more are hybrid (masteronly), one "
    "process alone with threads is OpenMP only. Paper: R07 = Rabenseifner: Hybrid parallel programming (lecture, "
    "2007), slides on OpenMP on distributed shared memory, its consistency protocol, and the heat example.";

constexpr words::Choices<Memory, 2> kMemories{{{"messages", Memory::kMessages}, {"pages", Memory::kPages}}};
constexpr int kMostPoints = 100'000;

Result<std::vector<Square>> parse_sizes(std::string_view text) {
  const auto points = words::parse_wholes(text, 1, kMostPoints);
  if (!points) return points.error();
  std::vector<Square> squares;
  for (const int each : *points) squares.push_back({each});
  return squares;
}

Status check(const Options& o, int ranks) {
  for (const Square& square : o.squares)
    if (square.points < ranks)
      return Error{fmt::format("--sizes: {} rows are fewer than the {} ranks of the job", square.points, ranks)};
  return wire::ok();
}

}  // namespace

std::string_view name_of(Memory memory) { return words::word_of(memory, kMemories); }

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks) {
  Options o;
  CommandLine app{kAbout, ranks::name_called(argv)};
  app.put_texts_below();
  app.add_version("iw-heat " IDLEWAVE_VERSION);
  ranks::add(app, "--sizes", o.squares, parse_sizes,
             "Points along each side of the plate (R07, heat example). [20,80,250,1000]")
      .type_name("N,...");
  ranks::add_choices<Memory>(
      app, "--memory", o.memories, kMemories,
      "messages: a process sends its outer rows to its neighbours. pages: all of the plate is shared, what others "
      "have changed is fetched by pages of 4 KiB after a barrier, by MPI's one-sided transfers (R07, consistency "
      "protocol). [messages,pages]")
      .type_name("NAME,...");
  ranks::add(app, "--threads", o.threads, whole<int, 1, 1024>, "OpenMP threads of each process. [1]").type_name("N");
  ranks::add(app, "--steps", o.steps, whole<std::int64_t, 1, 1'000'000'000>, "Of each size with each memory. [100]")
      .type_name("N");
  app.add_flag("--json", o.json, "Print one JSON object instead of a table.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, app.name());
    return std::variant<Options, Text>{Text{ending->text}};
  }
  const Status checked = check(o, ranks);
  if (!checked) return checked.error();
  return std::variant<Options, Text>{std::move(o)};
}

}  // namespace idlewave::heat
