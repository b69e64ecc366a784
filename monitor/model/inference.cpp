#include "monitor/model/inference.h"

#include <fmt/format.h>

#include <algorithm>

namespace idlewave::model {
namespace {

using analysis::domains::NoiseModel;
using analysis::partners::Exchange;
using analysis::program::Program;
using json = support::Json;
using wire::seconds;

/// Shares that are worth a sentence.
constexpr double kPoorFit = 0.1, kUnexplained = 0.01;

const char* name_of(NoiseModel::Kind kind) {
  switch (kind) {
    case NoiseModel::Kind::kNone: return "none";
    case NoiseModel::Kind::kExponential: return "exponential";
    case NoiseModel::Kind::kUniform: return "uniform";
    case NoiseModel::Kind::kRare: return "rare";
    case NoiseModel::Kind::kGamma: return "gamma";
  }
  return "";
}

void add_unexplained(const Program& program, std::vector<std::string>& lines) {
  const analysis::partners::Unexplained& unexplained = program.unexplained;
  if (unexplained.share < kUnexplained) return;
  std::string most;
  for (const auto& wait : unexplained.largest) {
    most += fmt::format("{}rank {} in step {}, {:+.3g} ms", most.empty() ? "" : "; ", wait.rank,
                        program.steps.numbers[wait.step], double(wait.time.count()) * 1e-6);
    if (&wait == &unexplained.largest[std::min<std::size_t>(2, unexplained.largest.size() - 1)]) break;
  }
  lines.push_back(
      fmt::format("{:.1f} % of all waiting is not explained by these partners, this protocol and these waits, which "
                  "are only the nearest{}{}",
                  100 * unexplained.share, most.empty() ? "" : "; most of it: ", most));
}

/// As `report` has it.
json partners_json(const Exchange& exchange) {
  if (!exchange.certain) return {};
  return exchange.declared ? "declared" : "inferred";
}

json unexplained_json(const Program& program) {
  json waits = json::array();
  for (const auto& wait : program.unexplained.largest)
    waits.push_back({{"rank", wait.rank}, {"step", program.steps.numbers[wait.step]}, {"seconds", seconds(wait.time)}});
  return {{"share", program.unexplained.share}, {"waits", std::move(waits)}};
}

}  // namespace

bool is_either_protocol(const Exchange& exchange) {
  const auto& all = exchange.distances;
  const auto has = [&](wire::Rank distance) { return std::ranges::find(all, distance) != all.end(); };
  return !exchange.rendezvous && !exchange.split && exchange.transfer.count() == 0 &&
         std::ranges::all_of(all, [&](wire::Rank distance) { return has(-distance); });
}

std::vector<std::string> not_told(const Program& program) {
  std::vector<std::string> lines;
  if (!program.exchange.certain && program.steps.ranks.size() > 1)
    lines.emplace_back(
        "not all of its ranks say whom they wait for, and the times don't tell, as of ranks that are never out of "
        "step: "
        "distances -1 and 1 are assumed; inject a delay, or say it with --set communication.distances=[1]");
  if (program.exchange.changes)
    lines.emplace_back(
        "its ranks wait for others in some parts of the run than in its longest: all steps are simulated as those");
  if (!program.work.memory && program.ranks_per_domain > 1)
    lines.emplace_back(
        "it does not say what its domains can move, or that its ranks move anything: none slows another");
  if (program.noise.distance > kPoorFit)
    lines.push_back(
        fmt::format("no distribution is like its noise: with the nearest, {}, the share of steps with less "
                    "noise than some figure is wrong by {:.0f} %",
                    name_of(program.noise.kind), 100 * program.noise.distance));
  add_unexplained(program, lines);
  return lines;
}

json inference_json(const Program& program) {
  const Exchange& exchange = program.exchange;
  const NoiseModel& noise = program.noise;
  return {
      {"distances", exchange.distances},
      {"topology", exchange.ring ? "ring" : "chain"},
      {"protocol", exchange.rendezvous ? "rendezvous" : "eager"},
      {"protocol_certain", exchange.declared || (exchange.certain && !is_either_protocol(exchange))},
      {"wait", exchange.split ? "split" : "all"},
      {"transfer_s", seconds(exchange.transfer)},
      {"pattern_certain", exchange.certain},
      {"partners", partners_json(exchange)},
      {"noise", {{"distribution", name_of(noise.kind)}, {"mean_s", seconds(noise.mean)}, {"distance", noise.distance}}},
      {"unexplained_waits", unexplained_json(program)},
      {"not_told", not_told(program)}};
}

}  // namespace idlewave::model
