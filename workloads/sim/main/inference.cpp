#include "workloads/sim/main/inference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "probe/wire/printable.h"

namespace idlewave::sim {
namespace {

constexpr Rank kFarthest = 6;        ///< Partners are looked for up to this distance.
constexpr double kViolations = 0.1;  ///< Share of telling steps in which jitter may make a partner look like none.
constexpr double kTolerance = 0.02;  ///< Of a step: how much earlier than its partner's post a wait may seem to end.
/// Of a step: a rank that posts so much later than another tells whether that one waits for it.
constexpr double kLate = 0.25;
constexpr double kLeastDelay = 1e-4;  ///< Seconds.

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double typical_step(const SessionHistory& history) {
  std::vector<double> lengths;
  for (const auto& steps : history.ranks) {
    for (const StepTimes& step : steps) lengths.push_back(step.end - step.begin - step.held);
  }
  return median(std::move(lengths));
}

/// Steps in which a rank posted so late that whoever waits for it must have noticed, and how many of them another went
/// through unmoved.
struct Evidence {
  std::uint64_t told = 0;
  std::uint64_t violated = 0;

  bool speaks_for_it() const { return told > 0 && double(violated) <= kViolations * double(told); }
  Evidence& operator+=(const Evidence& more) {
    told += more.told, violated += more.violated;
    return *this;
  }
};

Evidence evidence(const SessionHistory& history, Rank receiver, Rank sender, double step) {
  Evidence sum;
  const auto& mine = history.ranks[std::size_t(receiver)];
  const auto& its = history.ranks[std::size_t(sender)];
  for (std::size_t k = 0; k < mine.size(); ++k) {
    if (its[k].post < mine[k].post + kLate * step) continue;
    ++sum.told;
    sum.violated += mine[k].end < its[k].post - kTolerance * step;
  }
  return sum;
}

/// Over all ranks that have a partner at this distance without going across the ends, or (`across`) only by that.
Evidence evidence_at(const SessionHistory& history, Rank distance, bool across, double step) {
  const Rank ranks = Rank(history.ranks.size());
  Evidence sum;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Rank sender = rank - distance;
    const bool inside = sender >= 0 && sender < ranks;
    if (inside == across) continue;
    sum += evidence(history, rank, ((sender % ranks) + ranks) % ranks, step);
  }
  return sum;
}

double transfer_time(const SessionHistory& history, const Pattern& pattern) {
  const Rank ranks = Rank(history.ranks.size());
  std::vector<double> lasted;
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (std::size_t k = 0; k < history.steps(); ++k) {
      double last = history.ranks[std::size_t(rank)][k].post;
      for (const Rank distance : pattern.distances) {
        const Rank sender = rank - distance;
        if (sender >= 0 && sender < ranks) last = std::max(last, history.ranks[std::size_t(sender)][k].post);
      }
      lasted.push_back(history.ranks[std::size_t(rank)][k].end - last);
    }
  }
  return std::max(0.0, median(std::move(lasted)));
}

struct Place {
  Rank ranks_per_domain = 0;
  const wire::DomainInfo* domain = nullptr;  ///< The first one; null if none is known.
};

Place place_of(const SessionHistory& history) {
  std::map<int, Rank> members;
  for (const int domain : history.domain_of) ++members[domain];
  Place place;
  for (const auto& [domain, ranks] : members) place.ranks_per_domain = std::max(place.ranks_per_domain, ranks);
  if (!history.domains.empty() && !members.contains(-1)) place.domain = &history.domains.front();
  return place;
}

double work_time(const SessionHistory& history) {
  std::vector<double> times;
  for (const auto& steps : history.ranks) {
    for (const StepTimes& step : steps) times.push_back(step.post - step.begin - step.held);
  }
  return median(std::move(times));
}

/// Bytes a rank moves in a step: what it declares, else what was seen on all domains.
double volume_of(const SessionHistory& history) {
  std::vector<double> declared;
  for (const auto& steps : history.ranks) {
    for (const StepTimes& step : steps) declared.push_back(step.traffic);
  }
  const double usual = median(std::move(declared));
  const double seen = std::accumulate(history.bytes.begin(), history.bytes.end(), 0.0);
  return usual > 0 ? usual : seen / (double(history.ranks.size()) * double(history.steps()));
}

struct Held {
  std::size_t rank;
  std::size_t step;
  double seconds;
};

std::vector<Held> delays_in(const SessionHistory& history) {
  std::vector<Held> delays;
  for (std::size_t rank = 0; rank < history.ranks.size(); ++rank) {
    for (std::size_t step = 0; step < history.steps(); ++step) {
      if (const double held = history.ranks[rank][step].held; held >= kLeastDelay) delays.push_back({rank, step, held});
    }
  }
  return delays;
}

std::string delays_of(const SessionHistory& history, Rank factor) {
  const std::vector<Held> delays = delays_in(history);
  std::string text;
  for (std::size_t copy = 0; copy < std::size_t(factor) && !delays.empty(); ++copy) {
    for (const Held& delay : delays) {
      text += fmt::format("\n[[delay]]\nrank = {}\nstep = {}\nduration = \"{} ns\"\n",
                          copy * history.ranks.size() + delay.rank, delay.step, std::llround(delay.seconds * 1e9));
    }
  }
  return text;
}

}  // namespace

Pattern pattern_of(const SessionHistory& history) {
  const double step = typical_step(history);
  const Rank farthest = std::min(kFarthest, Rank(history.ranks.size()) - 1);
  Pattern pattern;
  Evidence across;
  for (Rank distance = -farthest; distance <= farthest; ++distance) {
    if (distance == 0 || !evidence_at(history, distance, false, step).speaks_for_it()) continue;
    pattern.distances.push_back(distance);
    across += evidence_at(history, distance, true, step);
  }
  pattern.certain = !pattern.distances.empty();
  if (!pattern.certain) pattern.distances = {-1, 1};
  pattern.ring = across.told == 0 || across.speaks_for_it();
  pattern.transfer = transfer_time(history, pattern);
  return pattern;
}

std::size_t number_of_delays(const SessionHistory& history) { return delays_in(history).size(); }

std::string scenario_of(const SessionHistory& history, const Pattern& pattern, const std::string& source, Rank factor) {
  const Place place = place_of(history);
  const double volume = volume_of(history);
  const bool memory = place.domain != nullptr && place.domain->core_bandwidth > 0 &&
                      place.domain->saturated_bandwidth > 0 && volume >= 1;
  const std::string scale = factor > 1 ? fmt::format(", on {} times its {} ranks", factor, history.ranks.size()) : "";
  std::string text = fmt::format("# From the recording {}: {}{}\n\n[machine]\nranks = {}\nranks_per_domain = {}\n",
                                 wire::printable(source), wire::printable(history.program), scale,
                                 history.ranks.size() * std::size_t(factor), place.ranks_per_domain);
  if (memory)
    text += fmt::format("core_bandwidth = \"{:.0f} B/s\"\ndomain_bandwidth = \"{:.0f} B/s\"\n",
                        place.domain->core_bandwidth, place.domain->saturated_bandwidth);
  text += fmt::format("\n[program]\nsteps = {}\n", history.steps());
  if (memory)
    text += fmt::format("kernel = \"memory\"\nvolume = \"{:.0f} B\"\n", volume);
  else
    text += fmt::format("kernel = \"core\"\ntime = \"{} ns\"\n", std::max(1LL, std::llround(work_time(history) * 1e9)));
  text += fmt::format(
      "\n[communication]\ntopology = \"{}\"\ndistances = [{}]\nprotocol = \"eager\"\nwait = \"all\"\ntime = \"{} "
      "ns\"\n",
      pattern.ring ? "ring" : "chain", fmt::join(pattern.distances, ", "), std::llround(pattern.transfer * 1e9));
  return text + delays_of(history, factor);
}

}  // namespace idlewave::sim
