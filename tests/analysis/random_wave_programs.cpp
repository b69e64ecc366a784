#include "tests/analysis/random_wave_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>

#include "workloads/sim/noise/make_noise.h"

namespace idlewave::test {

using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using tests::ExactProgram;
using wire::Nanoseconds;

namespace {

/// Of all ranks at work.
double step_of(const ExactProgram& program) {
  return program.bandwidth ? program.volume * program.ranks_per_domain / program.bandwidth(program.ranks_per_domain)
                           : program.time;
}

}  // namespace

ExactProgram RandomWavePrograms::next(bool memory, double noise) {
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

ExactProgram RandomWavePrograms::next_with_several(bool memory, double noise) {
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

ExactProgram RandomWavePrograms::next_noisy(bool memory, double most) {
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

void RandomWavePrograms::add_drawn_noise(ExactProgram& program, double most) {
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

void RandomWavePrograms::let_messages_take_time(ExactProgram& program, double most) {
  program.communication.time = Nanoseconds(std::llround(real(0.02, most) * step_of(program) * 1e9));
}

support::Delay RandomWavePrograms::delay(const ExactProgram& program, double steps) {
  return {whole(0, program.ranks - 1), whole(18, program.steps / 2),
          Nanoseconds(std::llround(step_of(program) * steps * 1e9))};
}

decltype(support::Noise::distribution) RandomWavePrograms::noise(double mean, double step) {
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

ExactProgram RandomWavePrograms::silent(bool memory) {
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

}  // namespace idlewave::test
