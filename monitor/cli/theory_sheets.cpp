#include "monitor/cli/theory_sheets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "monitor/cli/phase_picture.h"
#include "monitor/theory/contention.h"
#include "monitor/theory/idle_wave.h"
#include "monitor/theory/oscillators.h"
#include "probe/arguments/suggestion.h"
#include "workloads/theory/chebfd.h"
#include "workloads/theory/dependencies.h"
#include "workloads/theory/hybrid.h"
#include "workloads/theory/overlap.h"
#include "workloads/theory/shared_memory.h"
#include "workloads/theory/spmv.h"

namespace idlewave::cli {

namespace {

using Kind = Accepted::Kind;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

Answer idle_wave(GivenReader& given) {
  const int ranks = given.whole("ranks"), active = given.whole("active", ranks);
  const double core = given.number("core_bandwidth"), domain = given.number("domain_bandwidth");
  const double volume = given.number("volume"), communication = given.number("communication"),
               delay = given.number("delay"), noise = given.number("noise");
  const std::vector<int> distances = given.distances("distances");
  for (const int distance : distances)
    if (2 * std::abs(distance) > ranks)
      given.refuse("distances",
                   fmt::format("{} leads more than half round {} ranks: give the shorter way", distance, ranks));
  const bool rendezvous = given.choice("protocol") == 1;
  const bool split = given.choice("wait") == 1;
  const theory::RanksPerStep steps =
      theory::ranks_per_step({.distances = distances, .rendezvous = rendezvous, .split = split});
  const double together = theory::phase_time(active, volume, core, domain),
               alone = theory::phase_time(1, volume, core, domain);
  const auto speed = [&](int ranks_per_step, double execution) {
    return theory::wave_speed(1, ranks_per_step, execution, communication);
  };
  const auto reach = [&](int ranks_per_step) {
    return theory::wave_reach(delay, speed(ranks_per_step, together), speed(ranks_per_step, alone));
  };
  return {{"saturation_point", theory::saturation_point(core, domain), "processes that a domain can feed, N_sc"},
          {"execution_s", together, "work of a step while all are active (eq. 1)"},
          {"execution_alone_s", alone, "work of a step behind the wave, where bandwidth is not shared"},
          {"ranks_per_step_up", double(steps.up), "sigma d towards higher ranks"},
          {"ranks_per_step_down", double(steps.down), "sigma d towards lower ranks"},
          {"leading_up_ranks_per_s", speed(steps.up, together), "leading edge (eq. 2)"},
          {"leading_down_ranks_per_s", speed(steps.down, together), "the same downwards"},
          {"trailing_up_ranks_per_s", speed(steps.up, alone), "trailing edge at its fastest (eq. 2)"},
          {"trailing_down_ranks_per_s", speed(steps.down, alone), "the same downwards"},
          {"reach_up_ranks", reach(steps.up), "where the trailing edge has caught up, without noise"},
          {"reach_down_ranks", reach(steps.down), "the same downwards"},
          {"reach_noise_up_ranks", theory::noisy_reach(delay, steps.up, noise),
           "how far a front keeps its speed under noise: D / mu of eager messages in one direction, less of others"},
          {"reach_noise_down_ranks", theory::noisy_reach(delay, steps.down, noise), "the same downwards"},
          {"met_after_ranks", double(theory::meeting_distance(ranks, steps.up, steps.down)),
           "in a closed ring: where the fronts meet, counted upwards"}};
}

Answer overlap(GivenReader& given) {
  const double beta = given.number("beta"), inflation = given.number("inflation");
  const double collectives = given.number("collectives");
  // In units of the communication without noise.
  const auto stretch = [&](double share, bool collective) {
    return theory::Stretch{
        .communication = share, .noise = share * (inflation - 1), .work = share * beta, .collective = collective};
  };
  const theory::Stretch program[] = {stretch(collectives, true), stretch(1 - collectives, false)};
  const double speedup = theory::blocking_time(program, 0) / theory::overlapped_time(program, 0);
  return {{"bound_silent", theory::overlap_bound(beta), "largest speed-up without noise (eqs. 4, 5)"},
          {"bound", theory::overlap_bound(beta, inflation), "the same where noise inflates communication (eqs. 6, 7)"},
          {"speedup", speedup, "of this share of collectives, each beside its part of the work (eqs. 1, 2)"}};
}

Answer dependencies(GivenReader& given) {
  const auto ranks = std::uint32_t(given.whole("ranks"));
  const auto rank = std::uint32_t(given.whole("rank", int(ranks) - 1));
  const double ring = double(theory::dissemination_direct(ranks)), tree = double(theory::tree_direct(ranks));
  return {{"rounds", double(theory::collective_rounds(ranks)), "of messages, in either algorithm"},
          {"dissemination_direct", ring, "n log2 n: dependencies by messages, of an allreduce or a barrier"},
          {"dissemination_all", double(theory::dissemination_all(ranks)), "n (n - 1): with those through others"},
          {"tree_direct", tree, "n - 1: the same of a binomial tree, for a broadcast or a gather"},
          {"tree_all", double(theory::tree_all(ranks)), "about n/2 log2 n: with those through others"},
          {"direct_ratio", ring / tree, "dissemination over tree"},
          {"dissemination_delayed", double(ranks) - 1, "ranks that the rank delays if it is late"},
          {"broadcast_delayed", double(theory::tree_descendants(rank, ranks)), "the same: its descendants in the tree"},
          {"reduction_delayed", double(theory::tree_ancestors(rank)), "the same: its ancestors in the tree"}};
}

theory::ContendedStep contended(GivenReader& given, double memory) {
  return {.memory = memory,
          .network = given.number("network"),
          .memory_loss = given.number("memory_loss"),
          .network_loss = given.number("network_loss")};
}

Answer contention(GivenReader& given) {
  const theory::ContendedStep step = contended(given, given.number("memory"));
  return {{"without_contention_s", std::max(step.memory, step.network), "if neither disturbed the other"},
          {"contended_memory_s", step.memory * step.memory_loss, "T_M under contention"},
          {"contended_network_s", step.network * step.network_loss, "T_N under contention"},
          {"step_s", theory::step_time(step), "T_tot: the second goes on at full speed once the first is done"},
          {"one_after_the_other_s", step.memory + step.network, "without overlap"}};
}

Answer accelerators(GivenReader& given) {
  const double cpu = given.number("cpu"), accelerator = given.number("accelerator");
  const theory::ContendedStep step = contended(given, 0);
  const auto length = [&](double share) {
    theory::ContendedStep rest = step;
    rest.memory = cpu * (1 - share);
    return std::max(accelerator * share, theory::step_time(rest));
  };
  const double by_speed = cpu / (cpu + accelerator), best = theory::best_accelerator_share(cpu, accelerator, step);
  return {{"share_by_speed", by_speed, "of the work for the accelerators, by speed alone"},
          {"step_by_speed_s", length(by_speed), "what a step takes then"},
          {"best_share", best, "with which both are done at the same time"},
          {"best_step_s", length(best), "what a step takes then"}};
}

/// What another share leaves of the whole, as it would be written: 0.1 of 0.9, and not what is next to it.
double rest_of(double share) {
  constexpr double kDigits = 1e12;
  return std::round((1 - share) * kDigits) / kDigits;
}

Answer reserved_threads(GivenReader& given) {
  const int threads = given.whole("threads");
  const int reserved = given.whole("reserved", std::max(1, threads - 1));
  const double communication = given.number("communication");
  const double overlap = given.number("overlap", rest_of(communication));
  return {{"ratio", theory::funneled_reserved_ratio({communication, overlap}, threads, reserved),
           "times as fast as masteronly"},
          {"best_ratio", theory::best_reserved_ratio(threads, reserved), "1 + m (1 - 1/n)"},
          {"worst_ratio", theory::worst_reserved_ratio(threads, reserved), "1 - m/n"}};
}

Answer spmv(GivenReader& given) {
  const double nonzeros = given.number("nonzeros"), kappa = given.number("kappa"),
               bandwidth = given.number("bandwidth"), measured = given.number("gflops") * 1e9;
  const double balance = theory::crs_code_balance(nonzeros, kappa),
               split = theory::split_crs_code_balance(nonzeros, kappa);
  return {{"code_balance_bytes_per_flop", balance, "eq. 1"},
          {"flop_per_s", bandwidth / balance, "at most, with that bandwidth"},
          {"split_code_balance_bytes_per_flop", split, "eq. 2: local and nonlocal parts one after the other"},
          {"split_flop_per_s", bandwidth / split, "at most, with that bandwidth"},
          {"kappa_measured", theory::kappa_of(bandwidth, measured, nonzeros), "of the performance that was measured"}};
}

Answer chebfd(GivenReader& given) {
  const double vectors = given.number("block_vectors"), bandwidth = given.number("bandwidth");
  const double balance = theory::chebfd_code_balance(vectors);
  return {{"code_balance_bytes_per_flop", balance, "eq. 3"},
          {"flop_per_s", bandwidth / balance, "at most, with that bandwidth"}};
}

struct OscillatorRun {
  theory::Oscillators oscillators;
  double period = 1, delay = 0;
  int rank = 0, periods = 1;
  theory::PhaseDisturbance disturbance;
};

std::vector<theory::PhaseMoment> course_of(GivenReader& given, const OscillatorRun& run) {
  constexpr double kMostWork = 1e8;
  constexpr int kMostMoments = 21;
  const double steps = theory::steps_needed(run.oscillators, run.period);
  double couplings = 0;
  for (const auto& partners : run.oscillators.partners) couplings += 1 + double(partners.size());
  if (steps * run.periods * couplings > kMostWork)
    given.refuse("steps", "too much to work out; fewer steps, ranks or distances, or a larger sigma");
  if (!given.error().empty()) return {};
  std::vector<double> phases(run.oscillators.partners.size());
  phases[std::size_t(run.rank)] = -2 * std::numbers::pi * run.delay / run.period;
  return theory::phases_over(run.oscillators, run.disturbance, run.period, run.periods, int(steps),
                             std::min(kMostMoments, run.periods + 1), phases);
}

Answer oscillators(GivenReader& given) {
  const int ranks = given.whole("ranks");
  const std::vector<int> distances = given.distances("distances");
  for (const int distance : distances)
    if (std::abs(distance) >= ranks) given.refuse("distances", fmt::format("{} leads past {} ranks", distance, ranks));
  const bool ring = given.choice("topology") == 1;
  const auto potential = theory::Potential(given.choice("potential"));
  const theory::Interaction interaction{potential, given.number("sigma")};
  const double period = given.number("computation") + given.number("communication");
  if (period <= 0) given.refuse("computation", "with communication a step has to take time");
  const bool rendezvous = given.choice("protocol") == 1;
  const bool split = given.choice("wait") == 1;
  const double coupling = theory::coupling_strength(distances, rendezvous, split, period);
  OscillatorRun run{.oscillators = {}, .period = period, .disturbance = {}};
  run.disturbance.mean_noise = given.number("noise");
  run.delay = given.number("delay");
  run.rank = given.whole("rank", std::max(1, ranks) - 1);
  run.periods = given.whole("steps");
  run.disturbance.seed = std::uint64_t(given.whole("seed"));
  if (!given.error().empty()) return {};
  run.oscillators = {theory::topology(ranks, distances, ring), interaction, coupling / ranks};
  const std::vector<theory::PhaseMoment> course = course_of(given, run);
  if (course.empty()) return {};
  const theory::PhaseOrder order = order_of(course.back());
  const bool apart = potential == theory::Potential::kBottlenecked;
  Answer answer{{"period_s", period, "a step alone, t_comp + t_comm"},
                {"coupling_per_s", coupling, "v_p = beta kappa / (t_comp + t_comm)"},
                {"resting_distance_rad", apart ? theory::resting_distance(interaction.sigma) : 0,
                 apart ? "at which partners come to rest, 2 sigma / 3" : "at which partners come to rest: in step"},
                {"parameter", order.parameter, "Kuramoto's order parameter at the end: 1 in lockstep, 0 splayed out"},
                {"entropy", order.entropy, "of the phases at the end, as a share of the even distribution's"},
                {"gradient_rad", order.gradient, "mean absolute difference of neighbours at the end"},
                {"difference_rad", order.difference, "between the farthest and the least far at the end"}};
  answer.course = course;
  return answer;
}

Accepted number(std::string unit, double least, double most = kUnbounded) {
  return {.kind = Kind::kNumber, .unit = std::move(unit), .least = least, .most = most};
}
Accepted whole(std::string unit, int least, int most) {
  return {.kind = Kind::kWhole, .unit = std::move(unit), .least = double(least), .most = double(most)};
}
Accepted one_of(std::vector<std::string> words) { return {.kind = Kind::kWord, .words = std::move(words)}; }

const Accepted kTime{.kind = Kind::kTime}, kSize{.kind = Kind::kSize}, kBandwidth{.kind = Kind::kBandwidth},
    kDistances{.kind = Kind::kDistances};
const Accepted kTimesAsLong = number("times", 1), kShare = number("share", 0, 1);
const Accepted kProtocols = one_of({"eager", "rendezvous"}), kWaits = one_of({"all", "split"});
/// Above zero, for figures that are divided by.
constexpr double kLeast = 1e-9;

const Given kMemoryLoss{"memory_loss", "1.72", "L_M: while the other goes on; Cartesius", kTimesAsLong};
const Given kNetworkLoss{"network_loss", "2.2", "L_N: the same of the network", kTimesAsLong};

Sheet sheet_of_idle_wave() {
  return {"speed",
          "idle-wave",
          "afzal-2020, eqs. 1, 2",
          "How fast an idle wave runs, and how far it comes",
          {{"ranks", "40", "of the program", whole("ranks", 2, 1'000'000'000)},
           {"active", "10", "of a domain, that share its bandwidth", whole("ranks", 1, 1'000'000'000)},
           {"core_bandwidth", "10GB/s", "b(1)", kBandwidth},
           {"domain_bandwidth", "50GB/s", "b_sat", kBandwidth},
           {"volume", "50MB", "that a rank moves in a step", kSize},
           {"communication", "0s", "T_comm of a step", kTime},
           {"distances", "-1,1", "to whom a rank sends", kDistances},
           {"protocol", "eager", "of all messages", kProtocols},
           {"wait", "all", "for all at once, or for one distance after the other", kWaits},
           {"delay", "1.2s", "D, of one rank", kTime},
           {"noise", "0s", "mu: mean of the exponential time by which each phase is longer", kTime}},
          idle_wave};
}

Sheet sheet_of_overlap() {
  return {"noise-bound",
          "overlap",
          "widener-2016, eqs. 1, 2, 4 to 7",
          "What nonblocking collectives can win at most",
          {{"beta", "4.37", "computation over communication", number("times", kLeast), "LULESH of Table 1"},
           {"inflation", "1", "communication with noise over communication without", kTimesAsLong},
           {"collectives", "1", "of the communication; what is from point to point stays blocking", kShare}},
          overlap};
}

Sheet sheet_of_dependencies() {
  return {"dependencies",
          "",
          "widener-2016, section 4.3, Fig. 10",
          "How many ranks depend on each other in a collective",
          {{"ranks", "8", "n, in the collective", whole("ranks", 2, 1'000'000'000), "Fig. 10"},
           {"rank", "0", "that is late; the root is 0", whole("rank", 0, 999'999'999)}},
          dependencies};
}

Sheet sheet_of_contention() {
  return {"contention",
          "",
          "langguth-2018, section IV",
          "How long a step takes that overlaps communication and computation",
          {{"memory", "124.58ms", "T_M: computation alone", kTime, "4 nodes of Table II"},
           {"network", "0.86ms", "T_N: communication alone", kTime},
           {"memory_loss", "1.104", "L_M: while the other goes on", kTimesAsLong},
           {"network_loss", "2.28", "L_N: the same of the network", kTimesAsLong}},
          contention};
}

Sheet sheet_of_accelerators() {
  return {"accelerators",
          "",
          "langguth-2018, section VI",
          "How much of the work accelerators should have",
          {{"cpu", "6ms", "all work, on the processors", kTime, "the example has 10 of 60 Gflop/s there"},
           {"accelerator", "1.2ms", "all work, on the accelerators", kTime},
           {"network", "0.5ms", "T_N: communication alone", kTime},
           kMemoryLoss,
           kNetworkLoss},
          accelerators};
}

Sheet sheet_of_reserved_threads() {
  return {"hybrid-ratio",
          "reserved-threads",
          "rabenseifner-2007, performance ratio (theory)",
          "What threads win that are reserved for communication",
          {{"threads", "8", "n, of a process", whole("threads", 2, 1'000'000)},
           {"reserved", "1", "m, for communication", whole("threads", 1, 999'999)},
           {"communication", "0.3", "of the time: one thread communicates, the others sleep", kShare},
           {"overlap", "0.6", "of the time: work that need not wait for it", kShare}},
          reserved_threads};
}

Sheet sheet_of_spmv() {
  return {"spmv-balance",
          "spmv",
          "schubert-2011, eqs. 1, 2",
          "What memory bandwidth allows a sparse matrix-vector multiplication",
          {{"nonzeros", "15", "in a row, on average", number("nonzeros", 1), "HMeP"},
           {"kappa", "0", "of the right-hand side, loaded again per nonzero", number("bytes", 0)},
           {"bandwidth", "18.1GB/s", "of a socket", kBandwidth, "Nehalem EP"},
           {"gflops", "2.25", "measured performance, for kappa_measured", number("Gflop/s", kLeast)}},
          spmv};
}

Sheet sheet_of_chebfd() {
  return {"chebfd",
          "",
          "afzal-2020, eq. 3",
          "Code balance of the Chebyshev filter on block vectors",
          {{"block_vectors", "32", "n_b", number("vectors", 1)}, {"bandwidth", "50GB/s", "of a socket", kBandwidth}},
          chebfd};
}

Sheet sheet_of_oscillators() {
  return {"oscillators",
          "",
          "Afzal, Hager, Wellein, arXiv 2310.05701, eq. 4, and 2506.02792",
          "How processes that are coupled oscillators come into step, or out of it",
          {{"ranks", "40", "N, of the program", whole("ranks", 2, 100'000)},
           {"distances", "-1,1", "to whom a rank sends: the topology matrix T", kDistances},
           {"topology", "ring", "open or closed", one_of({"chain", "ring"})},
           {"potential", "scalable", "tanh, that of eq. 4, or sin", one_of({"scalable", "bottlenecked", "kuramoto"})},
           {"sigma", "3", "of eq. 4", number("rad", 0.01, 1e6)},
           {"computation", "30ms", "t_comp of a step", kTime},
           {"communication", "10ms", "t_comm of a step", kTime},
           {"protocol", "eager", "beta: eager 1, rendezvous 2", kProtocols},
           {"wait", "all", "kappa: all at once the farthest distance, split the sum of all", kWaits},
           {"noise", "0s", "mean of the exponential time by which a step is longer", kTime},
           {"delay", "20ms", "by which one rank is late at the beginning", kTime},
           {"rank", "0", "which one", whole("rank", 0, 99'999)},
           {"steps", "1000", "how long, in steps of a rank alone", whole("steps", 1, 1'000'000)},
           {"seed", "1", "of the noise", whole("number", 0, std::numeric_limits<int>::max())}},
          oscillators};
}

}  // namespace

std::span<const Sheet> theory_sheets() {
  static const std::vector<Sheet> kSheets = {
      sheet_of_idle_wave(),  sheet_of_overlap(),      sheet_of_dependencies(),
      sheet_of_contention(), sheet_of_accelerators(), sheet_of_reserved_threads(),
      sheet_of_spmv(),       sheet_of_chebfd(),       sheet_of_oscillators()};
  return kSheets;
}

std::string sheet_names() {
  std::string names;
  for (const Sheet& sheet : theory_sheets()) names += (names.empty() ? "" : ", ") + sheet.name;
  return names;
}

const Sheet* find_sheet(std::string_view name) {
  const auto sheets = theory_sheets();
  const auto found = std::ranges::find_if(
      sheets, [&](const Sheet& sheet) { return sheet.name == name || (!name.empty() && sheet.second_name == name); });
  return found == sheets.end() ? nullptr : &*found;
}

wire::Result<Worked> work_out(const Sheet& sheet, const std::map<std::string, std::string>& words) {
  std::vector<std::string> keys;
  for (const Given& each : sheet.given) keys.push_back(each.key);
  for (const auto& [key, value] : words)
    if (std::ranges::find(keys, key) == keys.end())
      return wire::Error{fmt::format("theory {} has no key '{}'{}; it has {}", sheet.name, key,
                                     arguments::did_you_mean(key, keys), fmt::join(keys, ", "))};
  GivenReader reader(sheet.given, words);
  Worked worked{.given = {}, .answer = sheet.work_out(reader)};
  if (!reader.error().empty()) return wire::Error{reader.error()};
  worked.given = reader.take();
  return worked;
}

}  // namespace idlewave::cli
