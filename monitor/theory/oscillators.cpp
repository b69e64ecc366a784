#include "monitor/theory/oscillators.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace idlewave::theory {
namespace {

using Phases = std::vector<double>;

double wave_number(double sigma) { return 1.5 * std::numbers::pi / sigma; }

Phases speeds(const Oscillators& oscillators, std::span<const double> frequencies, const Phases& phases) {
  Phases speeds(frequencies.begin(), frequencies.end());
  for (std::size_t i = 0; i < phases.size(); ++i) {
    double sum = 0;
    for (const std::size_t j : oscillators.partners[i]) sum += pull(oscillators.interaction, phases[j] - phases[i]);
    speeds[i] += oscillators.coupling * sum;
  }
  return speeds;
}

Phases moved(const Phases& phases, const Phases& speeds, double time) {
  Phases moved = phases;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += time * speeds[i];
  return moved;
}

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
std::uint64_t scattered(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

double exponential(const PhaseDisturbance& disturbance, std::uint64_t rank, std::uint64_t period) {
  const std::uint64_t drawn = scattered(scattered(scattered(disturbance.seed) ^ rank) ^ period);
  const double unit = double((drawn >> 11) + 1) * 0x1p-53;
  return -disturbance.mean_noise * std::log(unit);
}

}  // namespace

double pull(const Interaction& interaction, double ahead) {
  switch (interaction.potential) {
    case Potential::kScalable: return std::tanh(ahead);
    case Potential::kKuramoto: return std::sin(ahead);
    case Potential::kBottlenecked: break;
  }
  if (std::abs(ahead) < interaction.sigma) return -std::sin(wave_number(interaction.sigma) * ahead);
  return ahead < 0 ? -1 : 1;
}

double steepest(const Interaction& interaction) {
  return interaction.potential == Potential::kBottlenecked ? wave_number(interaction.sigma) : 1;
}

double resting_distance(double sigma) { return std::numbers::pi / wave_number(sigma); }

std::vector<std::vector<std::size_t>> topology(int ranks, std::span<const int> distances, bool ring) {
  std::vector<std::vector<std::size_t>> partners(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    auto& own = partners[std::size_t(rank)];
    for (const int distance : distances) {
      const long partner = long(rank) - distance;
      if (ring)
        own.push_back(std::size_t((partner % ranks + ranks) % ranks));
      else if (partner >= 0 && partner < ranks)
        own.push_back(std::size_t(partner));
    }
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return partners;
}

double coupling_strength(std::span<const int> distances, bool rendezvous, bool split, double period) {
  double sum = 0, farthest = 0;
  for (const int distance : distances) {
    sum += std::abs(distance);
    farthest = std::max(farthest, double(std::abs(distance)));
  }
  return (rendezvous ? 2 : 1) * (split ? sum : farthest) / period;
}

void advance(const Oscillators& oscillators, std::span<const double> frequencies, double step,
             std::vector<double>& phases) {
  const Phases first = speeds(oscillators, frequencies, phases);
  const Phases second = speeds(oscillators, frequencies, moved(phases, first, step / 2));
  const Phases third = speeds(oscillators, frequencies, moved(phases, second, step / 2));
  const Phases fourth = speeds(oscillators, frequencies, moved(phases, third, step));
  for (std::size_t i = 0; i < phases.size(); ++i)
    phases[i] += step / 6 * (first[i] + 2 * second[i] + 2 * third[i] + fourth[i]);
}

double steps_needed(const Oscillators& oscillators, double period) {
  std::size_t most = 0;
  for (const auto& own : oscillators.partners) most = std::max(most, own.size());
  const double rate = 2 * double(most) * oscillators.coupling * steepest(oscillators.interaction);
  return std::max(4.0, std::ceil(10 * rate * period));
}

std::vector<PhaseMoment> phases_over(const Oscillators& oscillators, const PhaseDisturbance& disturbance, double period,
                                     int periods, int steps, int moments, std::vector<double> phases) {
  std::vector<PhaseMoment> course{{0, phases}};
  Phases frequencies(phases.size());
  for (int done = 0; done < periods; ++done) {
    for (std::size_t rank = 0; rank < phases.size(); ++rank)
      frequencies[rank] =
          2 * std::numbers::pi / (period + exponential(disturbance, rank, static_cast<std::uint64_t>(done)));
    for (int step = 0; step < steps; ++step) advance(oscillators, frequencies, period / steps, phases);
    const long due = std::lround(double(course.size()) * periods / (moments - 1));
    if (done + 1 == due) course.push_back({(done + 1) * period, phases});
  }
  return course;
}

}  // namespace idlewave::theory
