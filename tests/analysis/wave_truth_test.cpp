// Waves held against the truth: the slow simulation run twice, with a delay and without it. Who ends a step later, and
// waits longer, because of the delay has been reached.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "monitor/analysis/step_history.h"
#include "monitor/analysis/waves.h"
#include "monitor/theory/idle_wave.h"
#include "tests/analysis/said_waits.h"
#include "tests/any_seed.h"
#include "tests/workloads/exact_run.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/neighbour.h"

namespace idlewave::analysis {
namespace {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using tests::ExactProgram;
using tests::ExactRun;
using wire::EventKind;
using wire::Phase;

constexpr double kReached = 0.1;  ///< Of a step: who is later by less is not reached.
constexpr double kWaits = 0.05;

wire::Event event(double seconds, EventKind kind, Phase phase, std::uint64_t value = 0) {
  return {Nanoseconds(std::llround(seconds * 1e9)), value, kind, phase};
}

double held_by_delays(const ExactProgram& program, Rank rank, int step) {
  double held = 0;
  for (const support::Delay& delay : program.delays)
    if (delay.rank == rank && delay.step == step) held += double(delay.duration.count()) * 1e-9;
  return held;
}

/// What ranks say of what holds them; of the rest they compute longer and don't know why.
enum class Holds { kAnnounced, kDelaysAnnounced, kUnannounced };

struct Told {
  Holds holds = Holds::kAnnounced;
  bool partners = false;
};

wire::Roster roster_of(const ExactProgram& program, bool says_partners) {
  wire::Roster roster;
  roster.world_size = program.ranks;
  for (Rank rank = 0; rank < program.ranks; ++rank)
    roster.ranks.push_back({rank, 1000 + rank, rank / program.ranks_per_domain});
  if (says_partners) test::say_waits(program.communication, roster);
  for (int domain = 0; domain <= (program.ranks - 1) / program.ranks_per_domain; ++domain) {
    wire::DomainInfo info;
    info.id = domain;
    info.label = fmt::format("socket {}", domain);
    if (program.bandwidth) {
      info.core_bandwidth = program.bandwidth(1);
      info.saturated_bandwidth = program.bandwidth(1000);
    }
    roster.domains.push_back(info);
  }
  return roster;
}

double end_of(const ExactRun& run, Rank rank, int step) {
  const auto& starts = run.step_start[std::size_t(rank)];
  const auto next = std::size_t(step) + 1;
  return next < starts.size() ? starts[next] : run.finish[std::size_t(rank)];
}

/// What the probe of one rank would say.
std::vector<wire::Event> events_of(const ExactProgram& program, const ExactRun& run, Rank rank, Holds holds) {
  std::vector<wire::Event> events{event(0, EventKind::kStart, Phase::kNone)};
  for (int step = 0; step < program.steps; ++step) {
    const double begin = run.step_start[std::size_t(rank)][std::size_t(step)], next = end_of(run, rank, step);
    const auto& work = run.work[std::size_t(rank)][std::size_t(step)];
    const Phase before = step > 0 ? Phase::kWait : Phase::kNone;
    events.push_back(event(begin, EventKind::kStep, before, std::uint64_t(step)));
    const double held = holds != Holds::kUnannounced ? held_by_delays(program, rank, step) : 0;
    if (held > 0) {
      events.push_back(event(begin, EventKind::kDelayBegin, Phase::kDelay, 7));
      events.push_back(event(begin + held, EventKind::kDelayEnd, before, 7));
    }
    events.push_back(event(begin + held, step > 0 ? EventKind::kSwitch : EventKind::kEnter, Phase::kCompute));
    if (holds == Holds::kAnnounced && work.noise > 0)
      events.push_back(event(work.to, EventKind::kSwitch, Phase::kNoise));
    events.push_back(event(std::min(work.to + work.noise, next), EventKind::kSwitch, Phase::kWait));
  }
  events.push_back(event(run.finish[std::size_t(rank)], EventKind::kStop, Phase::kNone));
  return events;
}

timeline::Timeline timeline_of(const ExactProgram& program, const ExactRun& run, Told told = {}) {
  timeline::Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster_of(program, told.partners)));
  Nanoseconds last{};
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    const auto events = events_of(program, run, rank, told.holds);
    last = std::max(last, events.back().time);
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n1", last);
  return timeline;
}

/// The step in which each rank was reached.
using Front = std::map<Rank, int>;

struct Truth {
  Front front;
  /// [rank][step] in steps: how much later it ended.
  std::vector<std::vector<double>> late;
};

double waiting(const ExactRun& run, Rank rank, int step) {
  return end_of(run, rank, step) - run.work[std::size_t(rank)][std::size_t(step)].to;
}

Truth truth_of(const ExactProgram& program, const ExactRun& run, std::size_t which, double typical_step) {
  ExactProgram without_it = program;
  without_it.delays.erase(without_it.delays.begin() + std::ptrdiff_t(which));
  const ExactRun without = simulate(without_it);
  const support::Delay& delay = program.delays[which];
  Truth truth;
  truth.late.resize(std::size_t(program.ranks));
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    for (int step = 0; step < program.steps; ++step) {
      const double late = (end_of(run, rank, step) - end_of(without, rank, step)) / typical_step;
      truth.late[std::size_t(rank)].push_back(late);
      const double more = (waiting(run, rank, step) - waiting(without, rank, step)) / typical_step;
      if (rank != delay.rank && step >= delay.step && late >= kReached && more >= kWaits)
        truth.front.try_emplace(rank, step);
    }
  }
  return truth;
}

class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : seed_(seed), random_(seed) {}
  unsigned seed() const { return seed_; }

  /// Noise: exponential, of that mean in steps.
  ExactProgram next(bool memory, double noise) {
    ExactProgram program = silent(memory);
    const double step = step_of(program);
    if (noise > 0) {
      program.noise = [mean = noise * step, seed = random_()](int rank, int k) {
        std::minstd_rand random(unsigned(rank * 7919 + k * 104729 + 1) ^ unsigned(seed));
        random.discard(3);
        return std::exponential_distribution<>(1 / mean)(random);
      };
    }
    program.delays = {delay(program, real(3, 30))};
    return program;
  }

  /// The first, and one or two more on other ranks within ten steps.
  ExactProgram next_with_several(bool memory, double noise) {
    ExactProgram program = next(memory, noise);
    const int more = whole(1, 2);
    while (std::ssize(program.delays) <= more) {
      support::Delay another = delay(program, real(3, 30));
      another.step = program.delays[0].step + whole(0, 10);
      if (std::ranges::find(program.delays, another.rank, &support::Delay::rank) == program.delays.end())
        program.delays.push_back(another);
    }
    return program;
  }

  /// Any of the simulator's noises, of at most that mean in steps, often enough to be noise.
  ExactProgram next_noisy(bool memory, double most) {
    ExactProgram program = silent(memory);
    const double mean = real(0, most) * step_of(program);
    std::shared_ptr<sim::core::PhaseNoise> made =
        std::move(*sim::noise::make_noise({noise(mean, step_of(program)), random_()}));
    if (made)
      program.noise_in_time = [made](int rank, int k, double begin, double end) {
        return made->after(rank, k, begin, end);
      };
    return program;
  }

  /// Drawn anew for each rank and step, so that it is the same with a delay and without, of at most that mean in steps.
  void add_drawn_noise(ExactProgram& program, double most) {
    const double mean = real(0, most) * step_of(program), probability = real(0.05, 0.5);
    const Nanoseconds whole_mean(std::llround(mean * 1e9));
    const std::vector<decltype(support::Noise::distribution)> kinds = {
        support::ExponentialNoise{whole_mean}, support::UniformNoise{whole_mean},
        support::GammaNoise{std::exp(real(std::log(0.2), std::log(20))), whole_mean},
        support::RareNoise{probability, Nanoseconds(std::llround(mean / probability * 1e9))}};
    std::shared_ptr<sim::core::PhaseNoise> made =
        std::move(*sim::noise::make_noise({kinds[std::size_t(whole(0, int(kinds.size()) - 1))], random_()}));
    if (made)
      program.noise_in_time = [made](int rank, int k, double begin, double end) {
        return made->after(rank, k, begin, end);
      };
  }

  /// Up to that share of a step each.
  void let_messages_take_time(ExactProgram& program, double most) {
    program.communication.time = Nanoseconds(std::llround(real(0.02, most) * step_of(program) * 1e9));
  }

  support::Delay delay(const ExactProgram& program, double steps) {
    return {whole(0, program.ranks - 1), whole(18, program.steps / 2),
            Nanoseconds(std::llround(step_of(program) * steps * 1e9))};
  }
  double real(double from, double to) { return std::uniform_real_distribution<>(from, to)(random_); }

 private:
  /// Of all ranks at work.
  static double step_of(const ExactProgram& program) {
    return program.bandwidth ? program.volume * program.ranks_per_domain / program.bandwidth(program.ranks_per_domain)
                             : program.time;
  }

  decltype(support::Noise::distribution) noise(double mean, double step) {
    const Nanoseconds whole_mean(std::llround(mean * 1e9));
    switch (whole(0, 6)) {
      case 1: return support::ExponentialNoise{whole_mean};
      case 2: return support::UniformNoise{whole_mean};
      case 3: return support::GammaNoise{std::exp(real(std::log(0.05), std::log(20))), whole_mean};
      case 4: {
        const double probability = real(0.05, 0.5);
        return support::RareNoise{probability, Nanoseconds(std::llround(mean / probability * 1e9))};
      }
      case 5: {
        const double period = step * real(0.5, 10);
        return support::PeriodicNoise{Nanoseconds(std::llround(mean * period / step * 1e9)), 1 / period,
                                      whole(0, 1) ? support::NoisePhase::kOwn : support::NoisePhase::kSame};
      }
      case 6: return support::SystemNoise{};
      default: return {};
    }
  }

  ExactProgram silent(bool memory) {
    ExactProgram program;
    program.ranks = whole(16, 60);
    program.ranks_per_domain = whole(4, 12);
    program.steps = whole(60, 120);
    program.time = real(0.003, 0.03);
    if (memory) {
      const double saturated = real(2, program.ranks_per_domain) * 10e9;
      program.bandwidth = [saturated](int active) { return std::min(active * 10e9, saturated); };
      program.volume = real(20e6, 80e6);
    }
    static const std::vector<std::vector<support::Rank>> kDistances = {
        {-1, 1}, {-1, 1}, {1}, {-1}, {-2, -1, 1, 2}, {-2, 2}, {1, 3}, {1, -1, -2}, {-3, -1, 1, 3}};
    program.communication.distances = kDistances[std::size_t(whole(0, int(kDistances.size()) - 1))];
    program.communication.topology = whole(0, 1) ? Topology::kRing : Topology::kChain;
    program.communication.protocol = whole(0, 2) ? Protocol::kEager : Protocol::kRendezvous;
    program.communication.wait = whole(0, 2) ? WaitFlavour::kAll : WaitFlavour::kSplit;
    return program;
  }

  int whole(int from, int to) { return std::uniform_int_distribution<>(from, to)(random_); }

  unsigned seed_;
  std::mt19937 random_;
};

std::string words_of(const ExactProgram& program) {
  const auto& c = program.communication;
  std::string words = fmt::format(
      "{} ranks, {} a domain, {} steps, {}, distances {}, {}, {}", program.ranks, program.ranks_per_domain,
      program.steps, c.topology == Topology::kRing ? "ring" : "chain", c.distances,
      c.protocol == Protocol::kEager ? "eager" : "rendezvous", c.wait == WaitFlavour::kAll ? "one wait" : "split");
  for (const support::Delay& delay : program.delays)
    words += fmt::format(", rank {} from step {} for {} ns", delay.rank, delay.step, delay.duration.count());
  return words;
}

/// How waves of many programs were found.
struct Score {
  int waves = 0, reach_right = 0, points = 0, not_late = 0, wrong_step = 0;
  int others = 0;  ///< Told of programs whose delays are none of their causes, and neither is a rare noise.

  Score& operator+=(const Score& more) {
    waves += more.waves, reach_right += more.reach_right, points += more.points, not_late += more.not_late;
    wrong_step += more.wrong_step, others += more.others;
    return *this;
  }
};

std::string words_of(const std::vector<Wave>& waves) {
  std::string words;
  for (const Wave& wave : waves)
    words += fmt::format("rank {}, step {}, {} ns {}; ", wave.origin_rank, wave.origin_step, wave.delay.count(),
                         to_words(wave.cause));
  return words;
}

void judge(const ExactProgram& program, std::size_t which, const Wave& wave, const Truth& truth, Score& score) {
  ++score.waves;
  const int reach = wave.up.reach_ranks + wave.down.reach_ranks;
  const bool right = std::abs(reach - int(truth.front.size())) <= 2;
  score.reach_right += right;
  if (!right) fmt::print("reach {} of wave {}, in truth {}: {}\n", reach, which, truth.front.size(), words_of(program));
  for (const WaveDirection* direction : {&wave.up, &wave.down}) {
    for (const FrontPoint& point : direction->front) {
      ++score.points;
      const auto found = truth.front.find(point.rank);
      score.wrong_step += found == truth.front.end() || found->second != point.step;
      score.not_late += truth.late[std::size_t(point.rank)][std::size_t(point.step)] < 0.9 * kReached;
    }
  }
}

/// Noise that is exponential comes to so many times its mean in one step of 22,000, and whoever waits for that waits for
/// a rank that was late, by what it was longer than the median.
constexpr double kRare = 10;

bool is_of_rare_noise(const ExactRun& run, const Wave& wave) {
  double sum = 0;
  std::size_t steps = 0;
  for (const auto& of_rank : run.work)
    for (const auto& work : of_rank) sum += work.noise, ++steps;
  const auto& noises = run.work[std::size_t(wave.origin_rank)];
  if (wave.origin_step >= std::ssize(noises)) return false;
  const double mean = sum / double(steps), noise = noises[std::size_t(wave.origin_step)].noise;
  const double told = std::chrono::duration<double>(wave.delay).count();
  return noise > kRare * mean && std::abs(told - (noise - mean * std::log(2))) < mean;
}

void judge(const ExactProgram& program, Told told, Score& score) {
  const ExactRun run = simulate(program);
  const timeline::Timeline timeline = timeline_of(program, run, told);
  const auto waves = find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  for (const Wave& wave : waves) {
    const bool is_ordered = std::ranges::any_of(program.delays, [&](const support::Delay& delay) {
      return delay.rank == wave.origin_rank && delay.step == wave.origin_step;
    });
    score.others += !is_ordered && !is_of_rare_noise(run, wave);
  }
  if (waves.size() != program.delays.size()) fmt::print("others among {}in {}\n", words_of(waves), words_of(program));
  const double typical = double(typical_step_length(timeline).count()) * 1e-9;
  for (std::size_t which = 0; which < program.delays.size(); ++which) {
    const support::Delay& delay = program.delays[which];
    const auto wave = std::ranges::find_if(
        waves, [&](const Wave& each) { return each.origin_rank == delay.rank && each.origin_step == delay.step; });
    const Truth truth = truth_of(program, run, which, typical);
    if (wave != waves.end()) {
      judge(program, which, *wave, truth, score);
    } else {
      ASSERT_EQ(told.holds, Holds::kUnannounced) << words_of(waves) << words_of(program);
      score.waves += !truth.front.empty();  // For whom somebody waits is to be found all the same.
    }
  }
}

Score score_of(RandomPrograms& random, const std::vector<ExactProgram>& programs, Told told) {
  Score score;
  for (const ExactProgram& program : programs) judge(program, told, score);
  fmt::print("{} waves, {} of right reach; {} points, {} not late, {} in another step; {} others; seed {}\n",
             score.waves, score.reach_right, score.points, score.not_late, score.wrong_step, score.others,
             random.seed());
  return score;
}

/// Of that many programs with one delay each.
Score score_of(bool memory, double noise, unsigned seed, int programs, Told told = {}) {
  RandomPrograms random(seed);
  std::vector<ExactProgram> all;
  for (int i = 0; i < programs; ++i) all.push_back(random.next(memory, noise));
  return score_of(random, all, told);
}

/// Of programs with two or three delays, close to each other in time.
Score score_of_several(bool memory, double noise, unsigned seed, int programs, Told told = {}) {
  RandomPrograms random(seed);
  std::vector<ExactProgram> all;
  for (int i = 0; i < programs; ++i) all.push_back(random.next_with_several(memory, noise));
  return score_of(random, all, told);
}

/// Of programs in which something that nobody announces holds one rank once, or nobody: how often it was told by rank
/// and step, and how often anything else was told.
struct Guess {
  int programs = 0, right = 0, others = 0;
};

void look_for_cause(const ExactProgram& program, Guess& guess) {
  const ExactRun run = simulate(program);
  const timeline::Timeline timeline = timeline_of(program, run, {Holds::kUnannounced});
  const bool has_cause = !program.delays.empty();
  const double typical = double(typical_step_length(timeline).count()) * 1e-9;
  if (has_cause && truth_of(program, run, 0, typical).front.empty()) return;  // Nobody waits for it.
  const auto is_it = [&](const Wave& wave) {
    return has_cause && wave.cause == WaveCause::kLateCompute && wave.origin_rank == program.delays[0].rank &&
           wave.origin_step == program.delays[0].step;
  };
  const auto waves = find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  const auto found = std::ranges::count_if(waves, is_it);
  ++guess.programs;
  guess.right += found == 1;
  guess.others += std::ssize(waves) > found;
  if (found == has_cause && std::ssize(waves) == found) return;
  fmt::print("{}", has_cause && found == 0 ? "not found; " : "");
  fmt::print("{}in {}\n", words_of(waves), words_of(program));
}

TEST(WaveTruth, OfACauseThatNobodyAnnouncedIsItsRankAndStep) {
  for (const bool memory : {false, true}) {
    const unsigned seed = any_seed();
    RandomPrograms random(seed);
    Guess guess;
    for (int i = 0; i < 30; ++i) {
      ExactProgram program = random.next_noisy(memory, 0.1);
      program.delays = {random.delay(program, random.real(3, 30))};
      look_for_cause(program, guess);
    }
    fmt::print("{} programs, {} right, {} with others; seed {}\n", guess.programs, guess.right, guess.others, seed);
    // Over 479 programs 476 were right.
    EXPECT_GE(guess.right, guess.programs - 2);
    EXPECT_LE(guess.others, 2);
  }
}

TEST(WaveTruth, OfProgramsWithoutACauseIsNone) {
  for (const bool memory : {false, true}) {
    const unsigned seed = any_seed();
    RandomPrograms random(seed);
    Guess guess;
    for (int i = 0; i < 40; ++i) look_for_cause(random.next_noisy(memory, 0.1), guess);
    fmt::print("{} programs, {} with waves; seed {}\n", guess.programs, guess.others, seed);
    // Over 640 programs 2 had waves.
    EXPECT_LE(guess.others, 2);
  }
}

TEST(WaveTruth, OfCoreBoundProgramsIsFoundToTheRank) {
  for (const double noise : {0.0, 0.02}) {
    const Score score = score_of(false, noise, any_seed(), 25);
    // Over 3,000 programs 9 were wrong: partners that can't be told from the times.
    EXPECT_GE(score.reach_right, score.waves - 2);
    EXPECT_LE(score.not_late, score.points / 200);
    EXPECT_LE(score.wrong_step, score.points / 50);
    EXPECT_EQ(score.others, 0);
  }
}

TEST(WaveTruth, OfCoreBoundProgramsIsFoundInNoise) {
  for (const double noise : {0.05, 0.1}) {
    const Score score = score_of(false, noise, any_seed(), 20);
    EXPECT_GE(score.reach_right, score.waves - 3);
    EXPECT_LE(score.not_late, score.points / 50);
    EXPECT_EQ(score.others, 0);
  }
}

class OfMemoryBoundPrograms : public testing::TestWithParam<double> {};

TEST_P(OfMemoryBoundPrograms, IsFoundInNoise) {
  for (const Holds holds : {Holds::kAnnounced, Holds::kDelaysAnnounced}) {
    const Score score = score_of(true, GetParam(), any_seed(), 60, {holds});
    // Of 60 programs of each kind 58 to 60 were right, and at most 0.8 % of the points had no lateness.
    EXPECT_GE(score.reach_right, score.waves * 9 / 10);
    EXPECT_LE(score.not_late, score.points / 50);
    EXPECT_LE(score.others, score.waves / 20);
  }
}

INSTANTIATE_TEST_SUITE_P(WaveTruth, OfMemoryBoundPrograms, testing::Values(0.0, 0.02, 0.05, 0.1));

TEST(WaveTruth, OfSeveralAtOnceIsFound) {
  for (const bool memory : {false, true}) {
    for (const double noise : {0.0, 0.05}) {
      for (const bool says_partners : {false, true}) {
        const Told told{memory && noise > 0 ? Holds::kDelaysAnnounced : Holds::kAnnounced, says_partners};
        const Score score = score_of_several(memory, noise, any_seed(), memory ? 25 : 30, told);
        // Of some 300 waves of each kind 97 % were right without noise, 96 to 98 % with it, and all but a few of the
        // core-bound ones.
        EXPECT_GE(score.reach_right, memory ? score.waves * 17 / 20 : score.waves * 29 / 30);
        // In one of some ten samples like this one more than in twenty; of core-bound programs in noise one of 400 had a wave
        // that nobody ordered.
        EXPECT_LE(score.others, memory ? score.waves / 10 : noise > 0 ? 1 : 0);
      }
    }
  }
}

/// Messages take up to two fifths of a step, in most steps hidden behind what their receivers do themselves, and delays a
/// third of a step and more.
Score score_with_messages(RandomPrograms& random, bool memory, double noise, int programs, Told told) {
  std::vector<ExactProgram> all;
  for (int i = 0; i < programs; ++i) {
    all.push_back(random.next(memory, noise));
    all.back().delays = {random.delay(all.back(), std::exp(random.real(std::log(0.3), std::log(30))))};
    random.let_messages_take_time(all.back(), 0.4);
  }
  return score_of(random, all, told);
}

class OfProgramsWhoseMessagesTakeTime : public testing::TestWithParam<bool> {};

/// Of 450 core-bound waves 98 % were right, and of 500 memory-bound ones 95 %: what is wrong there is mostly who is late
/// once more, dozens of steps after the wave has passed. A rank's own noise, ten times its mean, is a cause as well; without
/// noise one program of some two thousand has a wave that nobody ordered.
TEST_P(OfProgramsWhoseMessagesTakeTime, IsFound) {
  const bool memory = GetParam();
  for (const double noise : {0.0, 0.02}) {
    for (const bool says_partners : {false, true}) {
      RandomPrograms random(any_seed());
      const Told told{Holds::kAnnounced, says_partners};
      const auto is_right = [&](const Score& score) {
        return score.reach_right >= score.waves * (memory ? 16 : 19) / 20 &&
               score.not_late <= score.points / (memory ? 25 : 50) && score.others <= (noise > 0 ? score.waves / 5 : 0);
      };
      Score score = score_with_messages(random, memory, noise, 25, told);
      if (!is_right(score)) score += score_with_messages(random, memory, noise, 75, told);
      EXPECT_TRUE(is_right(score)) << fmt::format("{} waves, {} right, {} others; {} points, {} not late", score.waves,
                                                  score.reach_right, score.others, score.points, score.not_late);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(WaveTruth, OfProgramsWhoseMessagesTakeTime, testing::Bool());

/// Core-bound, all of it by closed forms: sigma d (afzal-2020, eq. 2), and where fronts of an endless wave end.
struct Ends {
  int fronts = 0, right_speed = 0, ends = 0, right_end = 0, others = 0;
};

/// Long enough that its slope is not that of two steps.
bool has_slope(const WaveDirection& direction) {
  return direction.front.size() > 4 && direction.front.back().step - direction.front.front().step >= 4;
}

/// Per step; and, where nothing disturbs anybody, per second, with messages of which one is waited for after another.
bool has_speed(const ExactProgram& program, const WaveDirection& direction, double ranks_per_step) {
  const auto is_near = [](const std::optional<Estimate>& measured, double expected) {
    return measured && std::abs(measured->value / expected - 1) <= 0.05;
  };
  if (!is_near(direction.leading.ranks_per_step, ranks_per_step)) return false;
  const auto& c = program.communication;
  if (program.noise || c.wait == WaitFlavour::kSplit) return true;
  const double step = program.time + double(c.time.count()) * 1e-9;
  return is_near(direction.leading.ranks_per_s, ranks_per_step / step) && direction.theory &&
         std::abs(direction.theory->ranks_per_s * step / ranks_per_step - 1) < 1e-3;
}

/// Of a wave that nothing ends but the program, its other front, and the ends of a chain. `to_go`: ranks up to these.
bool has_end(const WaveDirection& direction, bool ring, double ranks_per_step, double to_go, int steps) {
  if (ranks_per_step == 0) return direction.end == WaveEnd::kNone;
  if (to_go > ranks_per_step * (steps - 1)) return true;  // It may not come so far.
  return direction.end == (ring ? WaveEnd::kAnnihilated : WaveEnd::kBoundary);
}

void look_at_ends(const ExactProgram& program, const Wave& wave, Ends& found) {
  const auto& c = program.communication;
  const std::vector<int> distances(c.distances.begin(), c.distances.end());
  const bool rendezvous = c.protocol == Protocol::kRendezvous, split = c.wait == WaitFlavour::kSplit;
  const theory::RanksPerStep speed = theory::ranks_per_step({distances, rendezvous, split});
  const bool ring = c.topology == Topology::kRing;
  const int steps = program.steps - program.delays[0].step;
  for (const WaveDirection* direction : {&wave.up, &wave.down}) {
    const double ranks_per_step = direction->sign > 0 ? speed.up : speed.down;
    if (ranks_per_step > 0 && has_slope(*direction)) {
      ++found.fronts;
      const bool right = has_speed(program, *direction, ranks_per_step);
      found.right_speed += right;
      if (!right && direction->leading.ranks_per_step)
        fmt::print("{} ranks/step, by theory {}: {}\n", direction->leading.ranks_per_step->value, ranks_per_step,
                   words_of(program));
    }
    const double round = program.ranks * ranks_per_step / (speed.up + speed.down);
    const double chain = direction->sign > 0 ? program.ranks - 1 - wave.origin_rank : wave.origin_rank;
    ++found.ends;
    const bool right = has_end(*direction, ring, ranks_per_step, ring ? round : chain, steps);
    found.right_end += right;
    if (!right) fmt::print("{} ({}): {}\n", to_words(direction->end), direction->sign, words_of(program));
  }
}

TEST(WaveTruth, OfCoreBoundProgramsRunsAndEndsAsTheoryHasIt) {
  for (const double noise : {0.0, 0.02}) {
    for (const bool says_partners : {false, true}) {
      RandomPrograms random(any_seed());
      Ends found;
      for (int i = 0; i < 60; ++i) {
        ExactProgram program = random.next(false, noise);
        // By more than noise takes off on the way round.
        program.delays[0].duration += 10 * Nanoseconds(std::llround(program.time * 1e9));
        const Told told{Holds::kAnnounced, says_partners};
        const timeline::Timeline timeline = timeline_of(program, simulate(program), told);
        const auto waves = find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
        const auto ordered = std::ranges::find(waves, WaveCause::kCommand, &Wave::cause);
        ASSERT_NE(ordered, waves.end()) << words_of(waves) << words_of(program);
        look_at_ends(program, *ordered, found);
        found.others += int(waves.size()) - 1;
        if (waves.size() > 1) fmt::print("{}in {}\n", words_of(waves), words_of(program));
      }
      fmt::print("{} of {} speeds, {} of {} ends are right, {} others; seed {}\n", found.right_speed, found.fronts,
                 found.right_end, found.ends, found.others, random.seed());
      // A rank's own noise, thirteen times its mean, is a cause as well: one in some 2,000 programs.
      EXPECT_LE(found.others, noise > 0 ? 2 : 0);
      EXPECT_GE(found.right_speed, 0.95 * found.fronts);
      // Where nothing but one delay disturbs anybody, a chain and a ring may show the same.
      if (says_partners || noise > 0) {
        EXPECT_GE(found.right_end, 0.98 * found.ends);
      }
    }
  }
}

/// Of programs in which ranks don't say what disturbs them.
Score score_in_drawn_noise(RandomPrograms& random, bool memory, double most, int programs, Told told) {
  std::vector<ExactProgram> all;
  for (int i = 0; i < programs; ++i) {
    all.push_back(random.next_with_several(memory, 0));
    random.add_drawn_noise(all.back(), most);
  }
  return score_of(random, all, told);
}

/// What is wrong comes together, in one program: of 600 seeds 52 had a sample of 25 programs that broke a bound which all of
/// them together keep by far (98 % of 37,576 waves right; of points without lateness 1 in 1,600 with noise up to 2 %, 1 in
/// 800 up to 10 %; of waves that are none of the delays one for 2,000 and one for 800). So a sample that breaks a bound is
/// judged together with five times as many more.
TEST(WaveTruth, OfSeveralInMemoryBoundProgramsIsFoundInDrawnNoise) {
  for (const double most : {0.02, 0.1}) {
    RandomPrograms random(any_seed());
    const auto is_right = [most](const Score& score) {
      return score.reach_right >= score.waves * (most < 0.05 ? 18 : 17) / 20 &&
             score.not_late <= score.points / (most < 0.05 ? 100 : 50) && score.others <= score.waves / 80;
    };
    const Told told{Holds::kDelaysAnnounced};
    Score score = score_in_drawn_noise(random, true, most, 25, told);
    if (!is_right(score)) score += score_in_drawn_noise(random, true, most, 125, told);
    EXPECT_TRUE(is_right(score)) << fmt::format("{} waves, {} right, {} others; {} points, {} not late", score.waves,
                                                score.reach_right, score.others, score.points, score.not_late);
  }
}

/// Delays that no rank tells, two or three within ten steps. Of 4,489 waves of core-bound programs 99.7 % were right, of 4,124 of
/// memory-bound ones 95 %: what is wrong comes together in one program, as above.
TEST(WaveTruth, OfSeveralThatNobodyAnnouncedIsFound) {
  for (const bool memory : {false, true}) {
    for (const double most : {0.02, 0.1}) {
      for (const bool says_partners : {false, true}) {
        RandomPrograms random(any_seed());
        const Told told{Holds::kUnannounced, says_partners};
        const auto is_right = [&](const Score& score) {
          return score.reach_right >= score.waves * (memory ? 0.85 : 0.98) && score.not_late <= score.points / 50 &&
                 score.others <= score.waves / 40;
        };
        Score score = score_in_drawn_noise(random, memory, most, 15, told);
        if (!is_right(score)) score += score_in_drawn_noise(random, memory, most, 75, told);
        EXPECT_TRUE(is_right(score)) << fmt::format("{} waves, {} right, {} others; {} points, {} not late",
                                                    score.waves, score.reach_right, score.others, score.points,
                                                    score.not_late);
      }
    }
  }
}

/// What was ordinary for a rank was the median of 32 steps, in most of which it had worked beside few others, and what it
/// owed to others was told against that of 16, in most of which it had worked beside all of them.
TEST(WaveTruth, IsNoRankThatWorkedLongerInMoreCompanyWhereADomainHadFallenIntoStep) {
  constexpr unsigned kSeed = 2106;
  RandomPrograms random(kSeed);
  ExactProgram program;
  for (int i = 0; i < 25; ++i) {
    program = random.next_with_several(true, 0);
    random.add_drawn_noise(program, 0.02);
  }
  const ExactRun run = simulate(program);
  LateSteps late;
  late.read(timeline_of(program, run, {Holds::kDelaysAnnounced}));
  for (const LateStep& each : late.found()) {
    const double drawn = run.work[std::size_t(each.rank)][std::size_t(each.step)].noise;
    EXPECT_LT(double(each.excess.count()) * 1e-9, 2 * drawn) << "rank " << each.rank << ", step " << each.step;
  }
}

/// physics.md: 40 ranks in a ring, 10 on a domain, saturation at 5, a delay of 1.2 s. All 39 others wait for more than a
/// second, and the fronts meet on the far side.
TEST(WaveTruth, OfTheReferenceCaseMeetsItselfOnTheFarSide) {
  ExactProgram program;
  program.bandwidth = [](int active) { return std::min(active * 10e9, 50e9); };
  program.volume = 50e6;
  program.communication.protocol = Protocol::kEager;
  program.delays = {{5, 5, std::chrono::milliseconds(1200)}};
  const auto waves = find_waves(timeline_of(program, simulate(program)), {Nanoseconds{0}, Nanoseconds::max()});
  ASSERT_EQ(waves.size(), 1u);
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 39);
  for (const WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
    EXPECT_NEAR(direction->reach_ranks, 19.5, 0.5);
    EXPECT_EQ(direction->end, WaveEnd::kAnnihilated);
    EXPECT_NEAR(direction->end_rank, 25, 1);
    for (const FrontPoint& point : direction->front)
      EXPECT_GT(point.departure - point.arrival, std::chrono::seconds(1));
  }
}

/// Where sends wait too, and for one partner after the other, one step may take a wave to everybody.
ExactProgram next_split_rendezvous(RandomPrograms& random, bool memory, double noise) {
  ExactProgram program = random.next(memory, noise);
  program.communication.distances =
      random.real(0, 1) < 0.5 ? std::vector<Rank>{-3, -1, 1, 3} : std::vector<Rank>{-2, -1, 1, 2};
  program.communication.wait = WaitFlavour::kSplit;
  program.communication.protocol = Protocol::kRendezvous;
  return program;
}

/// In which steps ranks were reached that are in no front.
std::set<int> steps_beside(const Wave& wave, const Front& truth) {
  Front beside = truth;
  for (const WaveDirection* direction : {&wave.up, &wave.down})
    for (const FrontPoint& point : direction->front) beside.erase(point.rank);
  std::set<int> steps;
  for (const auto& [rank, step] : beside) steps.insert(step);
  return steps;
}

TEST(WaveTruth, IsFlattenedOnlyWhereManyWaitedAtOnceWhomNoFrontReached) {
  const unsigned seed = any_seed();
  RandomPrograms random(seed);
  for (int i = 0; i < 80; ++i) {
    const ExactProgram program = next_split_rendezvous(random, i % 2 == 1, 0.02 * (i % 3));
    const ExactRun run = simulate(program);
    for (const bool partners : {false, true}) {
      const timeline::Timeline timeline = timeline_of(program, run, {Holds::kAnnounced, partners});
      const double typical = double(typical_step_length(timeline).count()) * 1e-9;
      for (const Wave& wave : find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()})) {
        if (wave.up.end != WaveEnd::kFlattened) continue;
        EXPECT_EQ(steps_beside(wave, truth_of(program, run, 0, typical).front).size(), 1u)
            << (partners ? "declared: " : "inferred: ") << words_of(program);
      }
    }
  }
}

}  // namespace
}  // namespace idlewave::analysis
