#include "monitor/theory/idle_wave.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace idlewave::theory {

RanksPerStep ranks_per_step(const Exchange& exchange) {
  RanksPerStep speed;
  const auto reach = [&](int& side, int distance) {
    side = exchange.split ? side + distance : std::max(side, distance);
  };
  for (const int distance : exchange.distances) {
    if (distance > 0 || exchange.rendezvous) reach(speed.up, std::abs(distance));
    if (distance < 0 || exchange.rendezvous) reach(speed.down, std::abs(distance));
  }
  return speed;
}

double wave_speed(double sigma, double distance, double execution, double communication) {
  const double step = execution + communication;
  return step > 0 ? sigma * distance / step : 0;
}

double wave_reach(double delay, double leading_speed, double trailing_speed) {
  if (leading_speed <= 0) return 0;
  if (trailing_speed <= leading_speed) return std::numeric_limits<double>::infinity();
  return delay / (1 / leading_speed - 1 / trailing_speed);
}

double noisy_reach(double delay, int ranks_per_step, double mean_noise) {
  if (ranks_per_step == 0) return 0;
  if (mean_noise <= 0) return std::numeric_limits<double>::infinity();
  return ranks_per_step * delay / mean_noise;
}

int meeting_distance(int ranks, double up_ranks_per_step, double down_ranks_per_step) {
  if (up_ranks_per_step <= 0 || ranks < 2) return 0;
  if (down_ranks_per_step <= 0) return ranks - 1;
  return std::clamp(int(std::lround(ranks * up_ranks_per_step / (up_ranks_per_step + down_ranks_per_step))), 1,
                    ranks - 1);
}

}  // namespace idlewave::theory
