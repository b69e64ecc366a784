#include "monitor/analysis/program.h"

#include <algorithm>
#include <map>

#include "monitor/analysis/activity.h"
#include "monitor/analysis/partners.h"
#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Timeline;

constexpr Nanoseconds kLeastHold = std::chrono::microseconds(100);

template <class Value>
auto median_of(const CommonSteps& steps, Value value) {
  std::vector<decltype(value(RankStep{}))> values;
  values.reserve(steps.ranks.size() * steps.steps());
  for (const auto& rank : steps.ranks) {
    for (const RankStep& step : rank) values.push_back(value(step));
  }
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Partners partners_of(const CommonSteps& steps) {
  const auto length = median_of(steps, [](const RankStep& step) { return step.end - step.begin - step.held; });
  PartnerSearch search(Rank(steps.ranks.size()), length);
  std::vector<std::optional<StepCourse>> row(steps.ranks.size());
  for (std::size_t k = 0; k < steps.steps(); ++k) {
    for (std::size_t rank = 0; rank < row.size(); ++rank) {
      const RankStep& step = steps.ranks[rank][k];
      row[rank] = StepCourse{.begin = step.begin, .post = step.post, .end = step.end, .held = step.held, .over = true};
    }
    search.add(0, row);
  }
  return search.found();
}

Nanoseconds transfer_time(const CommonSteps& steps, const std::vector<Rank>& distances) {
  const Rank ranks = Rank(steps.ranks.size());
  std::vector<Nanoseconds> lasted;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto& mine = steps.ranks[std::size_t(rank)];
    for (std::size_t k = 0; k < mine.size(); ++k) {
      Nanoseconds last = mine[k].post;
      for (const Rank distance : distances) {
        const Rank sender = rank - distance;
        if (sender >= 0 && sender < ranks) last = std::max(last, steps.ranks[std::size_t(sender)][k].post);
      }
      lasted.push_back(mine[k].end - last);
    }
  }
  return std::max(Nanoseconds{0}, median(std::move(lasted)));
}

Rank largest_domain(const Timeline& timeline) {
  std::map<int, Rank> members;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) ++members[timeline.domain_of(rank)];
  Rank most = 0;
  for (const auto& [domain, ranks] : members) most = std::max(most, ranks);
  return most;
}

bool all_are_placed(const Timeline& timeline) {
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    if (timeline.domain_of(rank) < 0) return false;
  }
  return !timeline.domains().empty();
}

/// What all domains were seen to move, for each step of each rank.
double seen_volume(const Timeline& timeline, const CommonSteps& steps) {
  const Window window{steps.begin(), steps.end()};
  double bytes_per_second = 0;
  for (const DomainActivity& domain : domain_activity(timeline, window))
    bytes_per_second += domain.bandwidth_mean.value_or(0);
  const double seconds = std::chrono::duration<double>(window.length()).count();
  return bytes_per_second * seconds / (double(steps.ranks.size()) * double(steps.steps()));
}

Work find_work(const Timeline& timeline, const CommonSteps& steps) {
  Work work{.time = std::max(Nanoseconds{1}, median_of(steps, [](const RankStep& step) { return step.work(); })),
            .memory = {}};
  if (!all_are_placed(timeline)) return work;
  const wire::DomainInfo& model = timeline.domains().front().info;
  const auto declared = double(median_of(steps, [](const RankStep& step) { return step.traffic; }));
  const double volume = declared > 0 ? declared : seen_volume(timeline, steps);
  if (model.core_bandwidth > 0 && model.saturated_bandwidth > 0 && volume >= 1)
    work.memory = Work::Memory{volume, model.core_bandwidth, model.saturated_bandwidth};
  return work;
}

std::vector<Hold> find_holds(const CommonSteps& steps) {
  std::vector<Hold> holds;
  for (std::size_t rank = 0; rank < steps.ranks.size(); ++rank) {
    for (std::size_t step = 0; step < steps.steps(); ++step) {
      const Nanoseconds held = steps.ranks[rank][step].held;
      if (held >= kLeastHold) holds.push_back({Rank(rank), step, held});
    }
  }
  return holds;
}

std::size_t nodes_with_ranks(const Timeline& timeline) {
  const auto nodes = timeline.nodes();
  return std::size_t(std::ranges::count_if(nodes, [](const auto& node) { return node.ranks > 0; }));
}

Pattern pattern_of(const DeclaredMessages& said, const CommonSteps& steps) {
  Pattern pattern{.distances = said.distances,
                  .ring = said.ring,
                  .certain = true,
                  .declared = true,
                  .rendezvous = said.rendezvous,
                  .split = said.split,
                  .transfer = {}};
  pattern.transfer = transfer_time(steps, pattern.distances);
  return pattern;
}

}  // namespace

Pattern find_pattern(const CommonSteps& steps) {
  const Partners partners = partners_of(steps);
  Pattern pattern;
  pattern.ring = partners.ring;
  pattern.certain = !partners.offsets.empty();
  for (const Rank offset : partners.offsets) pattern.distances.push_back(-offset);
  std::ranges::reverse(pattern.distances);
  if (!pattern.certain) pattern.distances = {-1, 1};
  pattern.transfer = transfer_time(steps, pattern.distances);
  return pattern;
}

wire::Result<Program> find_program(const Timeline& timeline) {
  if (nodes_with_ranks(timeline) > 1)
    return wire::Error{"the session ran on several nodes; only one node's can be simulated from its recording"};
  auto steps = common_steps(timeline);
  if (!steps) return steps.error();
  Program program{.name = timeline.program(),
                  .ranks_per_domain = largest_domain(timeline),
                  .steps = std::move(*steps),
                  .pattern = {},
                  .work = {},
                  .holds = {}};
  const auto said = declared_messages(timeline);
  program.pattern = said ? pattern_of(*said, program.steps) : find_pattern(program.steps);
  program.work = find_work(timeline, program.steps);
  program.holds = find_holds(program.steps);
  return program;
}

std::vector<double> mean_at_work(const CommonSteps& steps, Rank ranks_per_domain, Nanoseconds from, Nanoseconds to) {
  const auto each = std::size_t(ranks_per_domain);
  std::vector<double> means((steps.ranks.size() + each - 1) / each, 0);
  for (std::size_t rank = 0; rank < steps.ranks.size(); ++rank) {
    Nanoseconds busy{};
    for (const RankStep& step : steps.ranks[rank])
      busy += std::max(Nanoseconds{0}, std::min(step.post, to) - std::max(step.begin + step.held, from));
    means[rank / each] += double(busy.count()) / double((to - from).count());
  }
  return means;
}

}  // namespace idlewave::analysis
