#include "monitor/cli/simulation/derived_scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "probe/wire/printable.h"

namespace idlewave::cli::simulation {
namespace {

using analysis::Program;
using wire::Rank;

std::string machine_of(const Program& program, Rank factor) {
  const std::string text = fmt::format("[machine]\nranks = {}\nranks_per_domain = {}\n",
                                       std::int64_t(program.ranks()) * factor, program.ranks_per_domain);
  const auto& memory = program.work.memory;
  if (!memory) return text;
  return text + fmt::format("core_bandwidth = \"{:.0f} B/s\"\ndomain_bandwidth = \"{:.0f} B/s\"\n",
                            memory->core_bandwidth, memory->saturated_bandwidth);
}

std::string work_of(const Program& program) {
  const std::string text = fmt::format("[program]\nsteps = {}\n", program.steps.steps());
  if (const auto& memory = program.work.memory)
    return text + fmt::format("kernel = \"memory\"\nvolume = \"{:.0f} B\"\n", memory->volume);
  return text + fmt::format("kernel = \"core\"\ntime = \"{} ns\"\n", program.work.time.count());
}

std::string communication_of(const Program& program) {
  const analysis::Pattern& pattern = program.pattern;
  return fmt::format(
      "[communication]\ntopology = \"{}\"\ndistances = [{}]\nprotocol = \"{}\"\nwait = \"{}\"\ntime = \"{} ns\"\n",
      pattern.ring ? "ring" : "chain", fmt::join(pattern.distances, ", "), pattern.rendezvous ? "rendezvous" : "eager",
      pattern.split ? "split" : "all", pattern.transfer.count());
}

std::string delays_of(const Program& program, Rank factor) {
  std::string text;
  for (Rank copy = 0; copy < factor && !program.holds.empty(); ++copy) {
    for (const analysis::Hold& hold : program.holds) {
      text += fmt::format("\n[[delay]]\nrank = {}\nstep = {}\nduration = \"{} ns\"\n",
                          std::int64_t(copy) * program.ranks() + hold.rank, hold.step, hold.duration.count());
    }
  }
  return text;
}

}  // namespace

std::string scenario_of(const Program& program, const std::string& source, Rank factor) {
  const std::string scale = factor > 1 ? fmt::format(", on {} times its {} ranks", factor, program.ranks()) : "";
  return fmt::format("# From the recording {}: {}{}\n\n", wire::printable(source), wire::printable(program.name),
                     scale) +
         machine_of(program, factor) + "\n" + work_of(program) + "\n" + communication_of(program) +
         delays_of(program, factor);
}

}  // namespace idlewave::cli::simulation
