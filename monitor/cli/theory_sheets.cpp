#include "monitor/cli/theory_sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "monitor/cli/phase_picture.h"
#include "monitor/theory/contention.h"
#include "monitor/theory/idle_wave.h"
#include "monitor/theory/oscillators.h"
#include "probe/arguments/suggestion.h"
#include "probe/words/number.h"
#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "probe/words/whole.h"
#include "workloads/theory/chebfd.h"
#include "workloads/theory/hybrid.h"
#include "workloads/theory/overlap.h"
#include "workloads/theory/shared_memory.h"
#include "workloads/theory/spmv.h"

namespace idlewave::cli {

/// Reads what a sheet asks for. The first value that is not accepted is the error; 1 stands for it until then.
class GivenReader {
 public:
  GivenReader(const Sheet& sheet, const std::map<std::string, std::string>& words) : sheet_(sheet), words_(words) {}

  double number(const char* key, double least, double most = std::numeric_limits<double>::max()) {
    return take(key, parse_number(text(key), least, most), [](double value) { return value; });
  }
  int whole(const char* key, int least, int most) {
    return int(take(key, words::parse_whole<int>(text(key), least, most), [](int value) { return double(value); }));
  }
  double seconds(const char* key) {
    return take(key, words::parse_duration(text(key)),
                [](wire::Nanoseconds time) { return std::chrono::duration<double>(time).count(); });
  }
  double bytes(const char* key) {
    return take(key, words::parse_bytes(text(key)), [](std::uint64_t bytes) { return double(bytes); });
  }
  double bandwidth(const char* key) {
    return take(key, words::parse_bandwidth(text(key)), [](double value) { return value; });
  }
  /// One of two words: whether it is the second.
  bool is_second(const char* key, const char* first, const char* second) {
    const std::string& word = text(key);
    if (word != first && word != second) refuse(key, fmt::format("\"{}\" is neither {} nor {}", word, first, second));
    return word == second;
  }
  /// Which of these words.
  int choice(const char* key, std::initializer_list<const char*> of) {
    const auto found = std::ranges::find(of, text(key));
    if (found != of.end()) return int(found - of.begin());
    refuse(key, fmt::format("\"{}\" is none of {}", text(key), fmt::join(of, ", ")));
    return 0;
  }
  std::vector<int> distances(const char* key) {
    std::vector<int> distances;
    for (const std::string_view word : words::split(text(key), ',')) {
      const auto distance = words::parse_whole<int>(word, -1000, 1000);
      if (!distance || *distance == 0)
        refuse(key, fmt::format("\"{}\" is no distance: whole numbers but 0, as in -1,1", word));
      else
        distances.push_back(*distance);
    }
    return distances;
  }

  /// For a reason that no reading of one value finds.
  void refuse(const char* key, const std::string& why) {
    if (error_.empty()) error_ = fmt::format("{}: {}", key, why);
  }

  const std::string& error() const { return error_; }
  std::vector<std::pair<std::string, double>> take_numbers() { return std::move(numbers_); }

 private:
  static wire::Result<double> parse_number(std::string_view given, double least, double most) {
    const auto number = words::parse_number(given, least, most);
    if (number || least < most) return number;
    return wire::Error{fmt::format("\"{}\" is not {}, which is all that the other figures leave", given, least)};
  }

  const std::string& text(const char* key) const {
    const auto given = words_.find(key);
    return given != words_.end() ? given->second : std::ranges::find(sheet_.given, key, &Given::key)->value;
  }

  template <class Value, class InUnits>
  double take(const char* key, const wire::Result<Value>& value, InUnits in_units) {
    if (!value) return refuse(key, value.error().message), 1;
    numbers_.emplace_back(key, in_units(*value));
    return numbers_.back().second;
  }

  const Sheet& sheet_;
  const std::map<std::string, std::string>& words_;
  std::vector<std::pair<std::string, double>> numbers_;
  std::string error_;
};

namespace {

Answer idle_wave(GivenReader& given) {
  const int ranks = given.whole("ranks", 2, 1'000'000'000), active = given.whole("active", 1, ranks);
  const double core = given.bandwidth("core_bandwidth"), domain = given.bandwidth("domain_bandwidth");
  const double volume = given.bytes("volume"), communication = given.seconds("communication"),
               delay = given.seconds("delay");
  const std::vector<int> distances = given.distances("distances");
  for (const int distance : distances)
    if (2 * std::abs(distance) > ranks)
      given.refuse("distances",
                   fmt::format("{} leads more than half round {} ranks: give the shorter way", distance, ranks));
  const bool rendezvous = given.is_second("protocol", "eager", "rendezvous");
  const bool split = given.is_second("wait", "all", "split");
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
          {"met_after_ranks", double(theory::meeting_distance(ranks, steps.up, steps.down)),
           "in a closed ring: where the fronts meet, counted upwards"}};
}

Answer overlap(GivenReader& given) {
  const double beta = given.number("beta", 1e-9), inflation = given.number("inflation", 1);
  return {{"bound_silent", theory::overlap_bound(beta), "largest speed-up without noise (eqs. 4, 5)"},
          {"bound", theory::overlap_bound(beta, inflation), "the same where noise inflates communication (eqs. 6, 7)"}};
}

theory::ContendedStep contended(GivenReader& given, double memory) {
  return {.memory = memory,
          .network = given.seconds("network"),
          .memory_loss = given.number("memory_loss", 1),
          .network_loss = given.number("network_loss", 1)};
}

Answer contention(GivenReader& given) {
  const theory::ContendedStep step = contended(given, given.seconds("memory"));
  return {{"without_contention_s", std::max(step.memory, step.network), "if neither disturbed the other"},
          {"contended_memory_s", step.memory * step.memory_loss, "T_M under contention"},
          {"contended_network_s", step.network * step.network_loss, "T_N under contention"},
          {"step_s", theory::step_time(step), "T_tot: the second goes on at full speed once the first is done"},
          {"one_after_the_other_s", step.memory + step.network, "without overlap"}};
}

Answer accelerators(GivenReader& given) {
  const double cpu = given.seconds("cpu"), accelerator = given.seconds("accelerator");
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

Answer reserved_threads(GivenReader& given) {
  const int threads = given.whole("threads", 2, 1'000'000);
  const int reserved = given.whole("reserved", 1, std::max(1, threads - 1));
  const double communication = given.number("communication", 0, 1);
  const double overlap = given.number("overlap", 0, 1 - communication);
  return {{"ratio", theory::funneled_reserved_ratio({communication, overlap}, threads, reserved),
           "times as fast as masteronly"},
          {"best_ratio", theory::best_reserved_ratio(threads, reserved), "1 + m (1 - 1/n)"},
          {"worst_ratio", theory::worst_reserved_ratio(threads, reserved), "1 - m/n"}};
}

Answer spmv(GivenReader& given) {
  const double nonzeros = given.number("nonzeros", 1), kappa = given.number("kappa", 0),
               bandwidth = given.bandwidth("bandwidth"), measured = given.number("gflops", 1e-9) * 1e9;
  const double balance = theory::crs_code_balance(nonzeros, kappa),
               split = theory::split_crs_code_balance(nonzeros, kappa);
  return {{"code_balance_bytes_per_flop", balance, "eq. 1"},
          {"flop_per_s", bandwidth / balance, "at most, with that bandwidth"},
          {"split_code_balance_bytes_per_flop", split, "eq. 2: local and nonlocal parts one after the other"},
          {"split_flop_per_s", bandwidth / split, "at most, with that bandwidth"},
          {"kappa_measured", theory::kappa_of(bandwidth, measured, nonzeros), "of the performance that was measured"}};
}

Answer chebfd(GivenReader& given) {
  const double vectors = given.number("block_vectors", 1), bandwidth = given.bandwidth("bandwidth");
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
  const int ranks = given.whole("ranks", 2, 100'000);
  const std::vector<int> distances = given.distances("distances");
  for (const int distance : distances)
    if (std::abs(distance) >= ranks) given.refuse("distances", fmt::format("{} leads past {} ranks", distance, ranks));
  const bool ring = given.is_second("topology", "chain", "ring");
  const auto potential = theory::Potential(given.choice("potential", {"scalable", "bottlenecked", "kuramoto"}));
  const theory::Interaction interaction{potential, given.number("sigma", 0.01, 1e6)};
  const double period = given.seconds("computation") + given.seconds("communication");
  if (period <= 0) given.refuse("computation", "with communication a step has to take time");
  const bool rendezvous = given.is_second("protocol", "eager", "rendezvous");
  const bool split = given.is_second("wait", "all", "split");
  const double coupling = theory::coupling_strength(distances, rendezvous, split, period);
  OscillatorRun run{.oscillators = {}, .period = period, .disturbance = {}};
  run.disturbance.mean_noise = given.seconds("noise");
  run.delay = given.seconds("delay");
  run.rank = given.whole("rank", 0, std::max(1, ranks) - 1);
  run.periods = given.whole("steps", 1, 1'000'000);
  run.disturbance.seed = std::uint64_t(given.whole("seed", 0, std::numeric_limits<int>::max()));
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

const Given kMemoryLoss{"memory_loss", "1.72", "L_M: times as long while the other goes on; Cartesius"};
const Given kNetworkLoss{"network_loss", "2.2", "L_N: the same of the network"};

}  // namespace

std::span<const Sheet> theory_sheets() {
  static const std::vector<Sheet> kSheets = {
      {"idle-wave",
       "afzal-2020, eqs. 1, 2",
       "How fast an idle wave runs, and how far it comes",
       {{"ranks", "40", "of the program"},
        {"active", "10", "ranks of a domain that share its bandwidth"},
        {"core_bandwidth", "10GB/s", "b(1)"},
        {"domain_bandwidth", "50GB/s", "b_sat"},
        {"volume", "50MB", "that a rank moves in a step"},
        {"communication", "0s", "T_comm of a step"},
        {"distances", "-1,1", "to whom a rank sends"},
        {"protocol", "eager", "eager or rendezvous"},
        {"wait", "all", "all at once, or split: for one distance after the other"},
        {"delay", "1.2s", "of one rank"}},
       idle_wave},
      {"overlap",
       "widener-2016, eqs. 4 to 7",
       "What nonblocking collectives can win at most",
       {{"beta", "4.37", "computation over communication", "LULESH of Table 1"},
        {"inflation", "1", "times as long as communication takes for noise"}},
       overlap},
      {"contention",
       "langguth-2018, section IV",
       "How long a step takes that overlaps communication and computation",
       {{"memory", "124.58ms", "T_M: computation alone", "4 nodes of Table II"},
        {"network", "0.86ms", "T_N: communication alone"},
        {"memory_loss", "1.104", "L_M: times as long while the other goes on"},
        {"network_loss", "2.28", "L_N: the same of the network"}},
       contention},
      {"accelerators",
       "langguth-2018, section VI",
       "How much of the work accelerators should have",
       {{"cpu", "6ms", "all work, on the processors", "the example has 10 of 60 Gflop/s there"},
        {"accelerator", "1.2ms", "all work, on the accelerators"},
        {"network", "0.5ms", "T_N: communication alone"},
        kMemoryLoss,
        kNetworkLoss},
       accelerators},
      {"reserved-threads",
       "rabenseifner-2007, performance ratio (theory)",
       "What threads win that are reserved for communication",
       {{"threads", "8", "n, of a process"},
        {"reserved", "1", "m, for communication"},
        {"communication", "0.3", "share of the time that one thread communicates and the others sleep"},
        {"overlap", "0.6", "share of work that need not wait for it"}},
       reserved_threads},
      {"spmv",
       "schubert-2011, eqs. 1, 2",
       "What memory bandwidth allows a sparse matrix-vector multiplication",
       {{"nonzeros", "15", "in a row, on average", "HMEp"},
        {"kappa", "0", "bytes of the right-hand side that are loaded again, per nonzero"},
        {"bandwidth", "18.1GB/s", "of a socket", "Nehalem EP"},
        {"gflops", "2.25", "measured performance, for kappa_measured"}},
       spmv},
      {"chebfd",
       "afzal-2020, eq. 3",
       "Code balance of the Chebyshev filter on block vectors",
       {{"block_vectors", "32", "n_b"}, {"bandwidth", "50GB/s", "of a socket"}},
       chebfd},
      {"oscillators",
       "Afzal, Hager, Wellein, arXiv 2310.05701, eq. 4, and 2506.02792",
       "How processes that are coupled oscillators come into step, or out of it",
       {{"ranks", "40", "N, of the program"},
        {"distances", "-1,1", "to whom a rank sends: the topology matrix T"},
        {"topology", "ring", "chain or ring"},
        {"potential", "scalable", "scalable (tanh), bottlenecked (eq. 4) or kuramoto (sin)"},
        {"sigma", "3", "of eq. 4, in rad"},
        {"computation", "30ms", "t_comp of a step"},
        {"communication", "10ms", "t_comm of a step"},
        {"protocol", "eager", "beta: eager 1, rendezvous 2"},
        {"wait", "all", "kappa: all at once the farthest distance, split the sum of all"},
        {"noise", "0s", "mean of the exponential time by which a step is longer"},
        {"delay", "20ms", "by which one rank is late at the beginning"},
        {"rank", "0", "which one"},
        {"steps", "1000", "how long, in steps of a rank alone"},
        {"seed", "1", "of the noise"}},
       oscillators},
  };
  return kSheets;
}

wire::Result<Worked> work_out(const Sheet& sheet, const std::map<std::string, std::string>& words) {
  std::vector<std::string> keys;
  for (const Given& each : sheet.given) keys.push_back(each.key);
  for (const auto& [key, value] : words)
    if (std::ranges::find(keys, key) == keys.end())
      return wire::Error{fmt::format("theory {} has no key '{}'{}; it has {}", sheet.name, key,
                                     arguments::did_you_mean(key, keys), fmt::join(keys, ", "))};
  GivenReader reader(sheet, words);
  Worked worked{.given = {}, .answer = sheet.work_out(reader)};
  if (!reader.error().empty()) return wire::Error{reader.error()};
  worked.given = reader.take_numbers();
  return worked;
}

}  // namespace idlewave::cli
