#include "monitor/analysis/domains/service.h"

#include <algorithm>

namespace idlewave::analysis::domains {
namespace {

/// Of what was given: who is that near to the end is done.
constexpr double kRounding = 1e-12;

}  // namespace

Service::Service(std::size_t ranks, const Bandwidth& bandwidth) : speeds_{0}, targets_(ranks, -1) {
  for (std::size_t active = 1; active <= ranks; ++active)
    speeds_.push_back(bandwidth(int(active)) / (double(active) * bandwidth(1)));
}

void Service::begin(std::size_t who, double work) {
  if (active_.empty()) given_ = 0;
  targets_[who] = given_ + work;
  active_.insert({targets_[who], who});
}

double Service::stop(std::size_t who) {
  const double rest = left(who);
  active_.erase({targets_[who], who});
  targets_[who] = -1;
  return rest;
}

double Service::next_end() const {
  if (active_.empty()) return std::numeric_limits<double>::infinity();
  return now_ + std::max(0.0, active_.begin()->first - given_) / speed();
}

std::vector<std::size_t> Service::end_next() {
  const double end = next_end();
  given_ = active_.begin()->first;
  now_ = end;
  std::vector<std::size_t> done;
  while (!active_.empty() && active_.begin()->first <= given_ * (1 + kRounding)) {
    done.push_back(active_.begin()->second);
    targets_[done.back()] = -1;
    active_.erase(active_.begin());
  }
  return done;
}

void Service::advance(double to) {
  if (to <= now_) return;
  if (!active_.empty()) given_ += (to - now_) * speed();
  now_ = to;
}

}  // namespace idlewave::analysis::domains
