#include "monitor/model/derived_scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "monitor/model/inference.h"
#include "probe/wire/printable.h"

namespace idlewave::model {
namespace {

using analysis::program::Program;
using wire::Rank;

std::string curve_of(const analysis::steps::Work::Memory& memory) {
  std::string text;
  for (const double bandwidth : memory.curve)
    text += fmt::format("{}\"{:.0f} B/s\"", text.empty() ? "" : ", ", bandwidth);
  return text;
}

std::string machine_of(const Program& program, Rank factor) {
  const std::string text = fmt::format("[machine]\nranks = {}\nranks_per_domain = {}\n",
                                       std::int64_t(program.ranks()) * factor, program.ranks_per_domain);
  const auto& memory = program.work.memory;
  if (!memory) return text;
  if (!memory->curve.empty()) return text + fmt::format("curve = [{}]\n", curve_of(*memory));
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
  const analysis::partners::Exchange& exchange = program.exchange;
  const char* const senders = exchange.rendezvous && !exchange.split
                                  ? "# Sends wait as receives do: which partners are senders makes no difference.\n"
                                  : "";
  const char* const either = is_either_protocol(exchange) ? "# Rendezvous would make no difference.\n" : "";
  return fmt::format(
      "[communication]\ntopology = \"{}\"\n{}distances = [{}]\n{}protocol = \"{}\"\nwait = \"{}\"\ntime = \"{} ns\"\n",
      exchange.ring ? "ring" : "chain", senders, fmt::join(exchange.distances, ", "), either,
      exchange.rendezvous ? "rendezvous" : "eager", exchange.split ? "split" : "all", exchange.transfer.count());
}

std::string noise_of(const analysis::domains::NoiseModel& noise) {
  using Kind = analysis::domains::NoiseModel::Kind;
  const std::int64_t mean = noise.mean.count();
  switch (noise.kind) {
    case Kind::kNone: return "";
    case Kind::kExponential: return fmt::format("distribution = \"exponential\"\nmean = \"{} ns\"\n", mean);
    case Kind::kUniform: return fmt::format("distribution = \"uniform\"\nmean = \"{} ns\"\n", mean);
    case Kind::kRare:
      return fmt::format("distribution = \"rare\"\nprobability = {:.6f}\nduration = \"{:.0f} ns\"\n", noise.shape,
                         double(mean) / noise.shape);
    case Kind::kGamma:
      return fmt::format("distribution = \"gamma\"\nmean = \"{} ns\"\nshape = {:.6f}\n", mean, noise.shape);
  }
  return "";
}

std::string noise_table(const Program& program) {
  const std::string noise = noise_of(program.noise);
  return noise.empty() ? noise : "\n[noise]\n" + noise;
}

std::string delays_of(const Program& program, const std::vector<analysis::program::Hold>& holds, Rank factor) {
  std::string text;
  for (Rank copy = 0; copy < factor && !holds.empty(); ++copy) {
    for (const analysis::program::Hold& hold : holds) {
      text += fmt::format("\n[[delay]]\nrank = {}\nstep = {}\nduration = \"{} ns\"\n",
                          std::int64_t(copy) * program.ranks() + hold.rank, hold.step, hold.duration.count());
    }
  }
  return text;
}

std::string all_delays_of(const Program& program, Rank factor) {
  const std::string stalls = delays_of(program, program.stalls, factor);
  return delays_of(program, program.holds, factor) +
         (stalls.empty() ? stalls : "\n# Told by nobody, and too long for noise:\n" + stalls);
}

}  // namespace

std::string scenario_of(const Program& program, const std::string& source, Rank factor) {
  const std::string scale = factor > 1 ? fmt::format(", on {} times its {} ranks", factor, program.ranks()) : "";
  return fmt::format("# From the recording {}: {}{}\n\n", wire::printable(source), wire::printable(program.name),
                     scale) +
         machine_of(program, factor) + "\n" + work_of(program) + "\n" + communication_of(program) +
         noise_table(program) + all_delays_of(program, factor);
}

}  // namespace idlewave::model
