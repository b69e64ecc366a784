#include "monitor/analysis/program/program.h"

#include <algorithm>
#include <map>

#include "monitor/analysis/domains/activity.h"
#include "monitor/analysis/partners/declared_messages.h"
#include "monitor/analysis/partners/exchange_search.h"

namespace idlewave::analysis::program {
namespace {

using timeline::Timeline;

constexpr Nanoseconds kLeastHold = std::chrono::microseconds(100);
/// Share of steps that take no longer than undisturbed work.
constexpr double kUndisturbed = 0.05;
/// Of the work: who begins the first step so much later than others begins late.
constexpr double kLateStart = 0.01;
/// Times the noise that nine steps of ten stay below, and times the work: what is longer is no noise.
constexpr double kStall = 20, kLongStall = 0.5;
/// Of all steps; what comes more often is noise, too.
constexpr double kMostStalls = 0.01;

template <class Value>
auto quantile_of(const steps::CommonSteps& steps, double quantile, Value value) {
  std::vector<decltype(value(steps::RankStep{}))> values;
  values.reserve(steps.ranks.size() * steps.steps());
  for (const auto& rank : steps.ranks) {
    for (const steps::RankStep& step : rank) values.push_back(value(step));
  }
  const auto place = values.begin() + std::ptrdiff_t(quantile * double(values.size() - 1));
  std::ranges::nth_element(values, place);
  return *place;
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

/// How many works of one rank there are in a window: of one that its edge cuts, the part of its time.
double works_in(const std::vector<steps::RankStep>& steps, Window window) {
  double works = 0;
  for (const steps::RankStep& step : steps) {
    const Nanoseconds begin = step.begin + step.held, from = std::max(begin, window.from);
    const Nanoseconds length = step.post - begin, within = std::min(step.post, window.to) - from;
    if (length > Nanoseconds{0} && within > Nanoseconds{0}) works += double(within.count()) / double(length.count());
  }
  return works;
}

/// What all domains were seen to move, for each step of each rank.
double seen_volume(const Timeline& timeline, const steps::CommonSteps& steps) {
  const Window window = steps.all_of(0, steps.ranks.size());
  double works = 0, bytes_per_second = 0;
  for (const auto& rank : steps.ranks) works += works_in(rank, window);
  if (works <= 0) return 0;
  for (const domains::DomainActivity& domain : domains::domain_activity(timeline, window))
    bytes_per_second += domain.bandwidth_mean.value_or(0);
  return bytes_per_second * std::chrono::duration<double>(window.length()).count() / works;
}

steps::Work find_work(const Timeline& timeline, const steps::CommonSteps& steps) {
  const auto work_of = [](const steps::RankStep& step) { return step.work(); };
  steps::Work work{.time = std::max(Nanoseconds{1}, quantile_of(steps, kUndisturbed, work_of)), .memory = {}};
  if (!all_are_placed(timeline)) return work;
  const wire::DomainInfo& model = timeline.domains().front().info;
  const auto declared = double(quantile_of(steps, 0.5, [](const steps::RankStep& step) { return step.traffic; }));
  const double volume = declared > 0 ? declared : seen_volume(timeline, steps);
  if (model.core_bandwidth > 0 && model.saturated_bandwidth > 0 && volume >= 1)
    work.memory = steps::Work::Memory{volume, model.core_bandwidth, model.saturated_bandwidth, model.curve};
  return work;
}

/// What comes on top of everybody's work, wherever in a step.
domains::OwnNoise all_noise(const Program& program) {
  domains::OwnNoise noise = program.own_noise;
  for (std::size_t rank = 0; rank < noise.size(); ++rank)
    for (std::size_t k = 1; k < noise[rank].size(); ++k) noise[rank][k] += program.late_messages[rank][k - 1];
  return noise;
}

/// Takes out what no noise of the others accounts for.
std::vector<Hold> take_stalls(domains::OwnNoise& noise, const steps::Work& work) {
  std::vector<Nanoseconds> all;
  for (const auto& rank : noise) all.insert(all.end(), rank.begin(), rank.end());
  const auto most = all.begin() + std::ptrdiff_t(all.size() * 9 / 10);
  std::ranges::nth_element(all, most);
  const double longest = std::max(kStall * double(most->count()), kLongStall * double(work.time.count()));
  std::vector<Hold> stalls;
  for (std::size_t rank = 0; rank < noise.size(); ++rank) {
    for (std::size_t k = 0; k < noise[rank].size(); ++k)
      if (double(noise[rank][k].count()) > longest) stalls.push_back({Rank(rank), k, noise[rank][k]});
  }
  if (double(stalls.size()) > kMostStalls * double(all.size())) return {};
  for (const Hold& stall : stalls) noise[std::size_t(stall.rank)][stall.step] = {};
  return stalls;
}

Nanoseconds late_start(const steps::CommonSteps& steps, std::size_t rank, const steps::Work& work) {
  const Nanoseconds late = steps.ranks[rank].front().begin - steps.begin();
  return double(late.count()) < kLateStart * double(work.time.count()) ? Nanoseconds{0} : late;
}

std::vector<Hold> find_holds(const steps::CommonSteps& steps, const steps::Work& work) {
  std::vector<Hold> holds;
  for (std::size_t rank = 0; rank < steps.ranks.size(); ++rank) {
    for (std::size_t step = 0; step < steps.steps(); ++step) {
      Nanoseconds held = steps.ranks[rank][step].held;
      if (step == 0) held += late_start(steps, rank, work);
      if (held >= kLeastHold) holds.push_back({Rank(rank), step, held});
    }
  }
  return holds;
}

std::size_t nodes_with_ranks(const Timeline& timeline) {
  const auto nodes = timeline.nodes();
  return std::size_t(std::ranges::count_if(nodes, [](const auto& node) { return node.ranks > 0; }));
}

/// Nothing: not all ranks say it.
std::optional<partners::Exchange> declared_exchange(const partners::SaidWaits& waits, const steps::CommonSteps& steps) {
  const auto said = partners::declared_messages(waits);
  if (!said) return std::nullopt;
  partners::Exchange exchange{.distances = said->distances,
                              .ring = said->ring,
                              .certain = true,
                              .declared = true,
                              .changes = said->changes,
                              .rendezvous = said->rendezvous,
                              .split = said->split};
  const steps::StepSample sample = steps::StepSample::of(steps);
  exchange.transfer = partners::ExchangeFit(sample).timed(exchange).transfer;
  return exchange;
}

/// As ranks say, else as the times tell.
partners::Exchange exchange_of(const Timeline& timeline, const steps::CommonSteps& steps) {
  const auto declared = declared_exchange(partners::with_sends_told(timeline), steps);
  return declared ? *declared : partners::find_exchange(steps::StepSample::of(steps));
}

}  // namespace

wire::Status check_clocks(const Timeline& timeline) {
  if (nodes_with_ranks(timeline) <= 1) return wire::ok();
  return wire::Error{"the session ran on several nodes; only one node's can be simulated from its recording"};
}

ModelSearch::ModelSearch(const Timeline& timeline, steps::CommonSteps steps)
    : timeline_(timeline), steps_(std::move(steps)), sends_(timeline) {
  if (sends_.is_done()) hear();
}

void ModelSearch::hear() {
  declared_ = declared_exchange({timeline_, sends_.rules()}, steps_);
  if (!declared_) search_.emplace(steps::StepSample::of(steps_));
}

bool ModelSearch::advance(LookBudget& budget) {
  if (!declared_ && !search_) {
    if (sends_.advance(budget)) return true;
    hear();
  }
  return search_ && search_->advance(budget);
}

ProgramModel ModelSearch::found() const {
  const partners::Exchange& exchange = declared_ ? *declared_ : search_->found();
  return {largest_domain(timeline_), late_messages(steps_, exchange).exchange, find_work(timeline_, steps_)};
}

wire::Result<Program> find_program(const Timeline& timeline) {
  if (const auto sound = check_clocks(timeline); !sound) return sound.error();
  auto steps = steps::common_steps(timeline);
  if (!steps) return steps.error();
  Program program{.name = timeline.program(),
                  .ranks_per_domain = largest_domain(timeline),
                  .steps = std::move(*steps),
                  .exchange = {},
                  .unexplained = {},
                  .work = {},
                  .own_noise = {},
                  .late_messages = {},
                  .noise = {},
                  .holds = {},
                  .stalls = {}};
  program.exchange = exchange_of(timeline, program.steps);
  program.unexplained = partners::unexplained_waits(program.steps, program.exchange);
  partners::LateMessages messages = late_messages(program.steps, program.exchange);
  program.exchange = std::move(messages.exchange);
  program.late_messages = std::move(messages.late);
  program.work = find_work(timeline, program.steps);
  program.own_noise = domains::find_own_noise(program.steps, program.work, program.ranks_per_domain);
  domains::OwnNoise noise = all_noise(program);
  program.stalls = take_stalls(noise, program.work);
  program.noise = domains::fit_noise(noise, program.work);
  program.holds = find_holds(program.steps, program.work);
  return program;
}

std::vector<double> mean_at_work(const steps::CommonSteps& steps, Rank ranks_per_domain, Nanoseconds from,
                                 Nanoseconds to) {
  const auto each = std::size_t(ranks_per_domain);
  std::vector<double> means((steps.ranks.size() + each - 1) / each, 0);
  for (std::size_t rank = 0; rank < steps.ranks.size(); ++rank) {
    Nanoseconds busy{};
    for (const steps::RankStep& step : steps.ranks[rank])
      busy += std::max(Nanoseconds{0}, std::min(step.post - step.noise, to) - std::max(step.begin + step.held, from));
    means[rank / each] += double(busy.count()) / double((to - from).count());
  }
  return means;
}

}  // namespace idlewave::analysis::program
