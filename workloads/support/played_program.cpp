#include "workloads/support/played_program.h"

#include <array>

#include "probe/words/text.h"
#include "probe/words/whole.h"
#include "workloads/support/toml_document.h"

namespace idlewave::support {
namespace {

struct Playable {
  std::string_view name;
  wire::Rank ranks_per_domain;  ///< Of its virtual sockets, unless its arguments say it; 0: it has none by itself.
  std::string_view keys;        ///< What it prints with --json; N is any place in a list.
};

/// Tests hold this against what each program prints, and against its --help.
constexpr std::array<Playable, 10> kPrograms = {{
    {"iw-chebfd", 10,
     "size.N rows disorder window.N degree vectors block threads processes steps filter_s flop_per_s "
     "code_balance_bytes_per_flop bandwidth_bytes_per_s wave_error moment_error symmetry_error eta.N mu.N ranks.N.rows "
     "ranks.N.nonzeros ranks.N.received_bytes ranks.N.sources ranks.N.filter_s ranks.N.parts_s.gather "
     "ranks.N.parts_s.communication ranks.N.parts_s.reduction ranks.N.parts_s.compute"},
    {"iw-collectives", 10,
     "ranks steps work_s size tests waiting comparisons.N.collective comparisons.N.noise comparisons.N.blocking_s "
     "comparisons.N.nonblocking_s comparisons.N.speedup comparisons.N.speedup_bound comparisons.N.slowdown_blocking "
     "comparisons.N.slowdown_nonblocking comparisons.N.work_mean_s comparisons.N.collective_mean_s "
     "comparisons.N.work_mean_nonblocking_s comparisons.N.collective_mean_nonblocking_s comparisons.N.wrong"},
    {"iw-contention", 0,
     "domains message_size kernel points.N.contenders points.N.mpi_bandwidth points.N.memory_bandwidth "
     "points.N.memory_bandwidth_alone loss_network loss_memory steps.N.volume steps.N.memory_s steps.N.network_s "
     "steps.N.both_s steps.N.model_s"},
    {"iw-heat", 0,
     "processes threads steps runs.N.size runs.N.memory runs.N.step_s runs.N.communication_share "
     "runs.N.communication_ratio runs.N.transfers_per_step runs.N.bytes_per_step runs.N.error"},
    {"iw-hybrid", 0,
     "size.N processes threads steps runs.N.mode runs.N.reserved runs.N.step_s runs.N.communication_s runs.N.work_s "
     "runs.N.ratio runs.N.theory_ratio runs.N.error"},
    {"iw-orthogonal", 0,
     "nodes ranks_per_node network rounds points.N.size points.N.way points.N.communicating points.N.exchange_s "
     "points.N.ratio points.N.vertical_s points.N.bandwidth points.N.theory_s crossing_bytes wrong"},
    {"iw-progress", 0,
     "mpi measurements.N.direction measurements.N.message_size measurements.N.verdict measurements.N.hidden "
     "measurements.N.hidden_least measurements.N.hidden_most measurements.N.communication_s "
     "measurements.N.points.N.work_s measurements.N.points.N.total_s measurements.N.points.N.by_itself_s "
     "measurements.N.points.N.inside_calls_s"},
    {"iw-selfish", 0,
     "ranks detours share histogram.N.from_s histogram.N.to_s histogram.N.detours histogram.N.time_s of_ranks.N.rank "
     "of_ranks.N.core of_ranks.N.duration_s of_ranks.N.iterations of_ranks.N.shortest_s of_ranks.N.granularity_s "
     "of_ranks.N.repeated_readings of_ranks.N.threshold_s of_ranks.N.detours of_ranks.N.share of_ranks.N.longest_s "
     "of_ranks.N.longest_at_s"},
    {"iw-spmv", 10,
     "distribute threads products kernel percentiles.N runs.N.matrix runs.N.rows runs.N.nonzeros runs.N.mode "
     "runs.N.reserved runs.N.processes "
     "runs.N.product_s runs.N.flop_per_s runs.N.compute_flop_per_s runs.N.code_balance_bytes_per_flop "
     "runs.N.triad_bandwidth runs.N.kappa_limit runs.N.form runs.N.symmetry_error runs.N.wrong runs.N.ratio "
     "runs.N.theory_ratio runs.N.cost_s.gather.N runs.N.cost_s.communication.N runs.N.cost_s.product.N "
     "runs.N.cost_s.local.N runs.N.cost_s.nonlocal.N runs.N.cost_s.parallel_region.N runs.N.ranks.N.rows "
     "runs.N.ranks.N.nonzeros runs.N.ranks.N.received_bytes runs.N.ranks.N.sources runs.N.ranks.N.product_s "
     "runs.N.ranks.N.parts_s.gather runs.N.ranks.N.parts_s.communication runs.N.ranks.N.parts_s.product "
     "runs.N.ranks.N.parts_s.local runs.N.ranks.N.parts_s.nonlocal runs.N.ranks.N.parts_s.parallel_region "
     "runs.N.ranks.N.wrong"},
    {"iw-topology", 0,
     "grid.N nodes ranks_per_node ranks_per_socket message_size steps network runs.N.mapping runs.N.links.all "
     "runs.N.links.across_nodes runs.N.links.across_sockets runs.N.counted.all runs.N.counted.across_nodes "
     "runs.N.counted.across_sockets runs.N.messages.all runs.N.messages.across_nodes runs.N.messages.across_sockets "
     "runs.N.step_s runs.N.wrong"},
}};
constexpr wire::Rank kMostPerCore = 64;
/// The lesson adds it by itself.
constexpr std::string_view kJson = "--json";

void check_name(Section& section, const std::string& name) {
  if (std::ranges::find(kPrograms, name, &Playable::name) != kPrograms.end()) return;
  std::vector<std::string_view> names;
  for (const Playable& each : kPrograms) names.push_back(each.name);
  section.complain("program", fmt::format("\"{}\" is not one of {}", name, fmt::join(names, ", ")));
}

bool is_place(std::string_view part) { return bool(words::parse_whole<int>(part, -1, wire::kMaxRanks)); }

/// "runs.1.ratio" is "runs.N.ratio".
std::string without_places(std::string_view key) {
  std::string pattern;
  for (const std::string_view part : words::split(key, '.')) {
    if (!pattern.empty()) pattern += '.';
    pattern += is_place(part) ? "N" : part;
  }
  return pattern;
}

/// What stands behind a flag, or behind its "="; nothing where it is not given.
std::optional<std::string_view> given_to(std::string_view flag, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == flag && i + 1 < arguments.size()) return arguments[i + 1];
    if (word.starts_with(flag) && word.substr(flag.size()).starts_with('=')) return word.substr(flag.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

wire::Status check_told(std::string_view program, std::string_view key) {
  const auto playable = std::ranges::find(kPrograms, program, &Playable::name);
  const std::vector<std::string_view> keys = words::split(playable->keys, ' ');
  if (std::ranges::find(keys, without_places(key)) != keys.end()) return wire::ok();
  return wire::Error{fmt::format("{} tells no \"{}\"; accepted, with a place for N (-1 is the last): {}", program, key,
                                 fmt::join(keys, ", "))};
}

int sockets_of(const PlayedProgram& played, wire::Rank ranks) {
  wire::Rank on_one = std::ranges::find(kPrograms, played.name, &Playable::name)->ranks_per_domain;
  if (const auto given = given_to("--ranks-per-domain", played.arguments)) {
    const auto number = words::parse_whole<wire::Rank>(*given, 1, wire::kMaxRanks);
    on_one = number ? *number : 0;
  }
  return on_one > 0 ? (ranks + on_one - 1) / on_one : 0;
}

PlayedProgram read_played_program(Section section) {
  PlayedProgram played;
  section.require("program", "\"iw-hybrid\"");
  section.text("program", played.name);
  section.texts("arguments", played.arguments);
  section.whole<wire::Rank>("ranks", played.ranks, 1, wire::kMaxRanks);
  section.whole<wire::Rank>("ranks_per_core", played.ranks_per_core, 1, kMostPerCore);
  section.refuse_other_keys();
  check_name(section, played.name);
  if (section.has("ranks") && section.has("ranks_per_core"))
    section.complain("ranks_per_core", "and ranks exclude each other; give one of both");
  if (!section.has("ranks_per_core")) section.require("ranks", "2, or ranks_per_core = 1");
  if (std::ranges::find(played.arguments, kJson) != played.arguments.end())
    section.complain("arguments", "--json is given by the lesson; leave it out");
  return played;
}

}  // namespace idlewave::support
