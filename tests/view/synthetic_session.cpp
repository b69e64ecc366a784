#include "tests/view/synthetic_session.h"

#include <fmt/format.h>

#include <algorithm>

namespace idlewave::view::testing {

namespace {

using wire::Event;
using wire::EventKind;
using wire::Phase;

constexpr Nanoseconds kTick = std::chrono::microseconds(250);
constexpr Nanoseconds kSample = std::chrono::milliseconds(200);

struct Process {
  Phase phase = Phase::kCompute;
  wire::Step step = 0;
  double bytes_left = 0;
  Nanoseconds held_until{};
  std::vector<Event> events;
};

class Machine {
 public:
  Machine(const ProgramPlan& plan)
      : plan_(plan), processes_(static_cast<std::size_t>(plan.ranks)), moved_(static_cast<std::size_t>(sockets())) {}

  void run(timeline::Timeline& timeline) {
    timeline.apply_roster(plan_.node, roster());
    for (Rank rank = 0; rank < plan_.ranks; ++rank) {
      tell(rank, EventKind::kStart, Phase::kNone, 0);
      begin_step(rank, 0);
    }
    for (; now_ < plan_.length; now_ += kTick) tick();
    for (Rank rank = 0; rank < plan_.ranks; ++rank)
      timeline.append(plan_.node, {wire::LaneId::Kind::kRank, rank}, of(rank).events);
    for (int i = 0; i < sockets(); ++i)
      timeline.append(plan_.node, {wire::LaneId::Kind::kDomain, i}, samples_[static_cast<std::size_t>(i)]);
    timeline.advance(plan_.node, now_);
  }

 private:
  int sockets() const { return (plan_.ranks + plan_.ranks_per_socket - 1) / plan_.ranks_per_socket; }
  Process& of(Rank rank) { return processes_[static_cast<std::size_t>((rank + plan_.ranks) % plan_.ranks)]; }

  wire::Roster roster() const {
    wire::Roster roster{.world_size = plan_.ranks,
                        .machine = "synthetic",
                        .program = plan_.program,
                        .ranks = {},
                        .domains = {},
                        .phases = {}};
    for (Rank rank = 0; rank < plan_.ranks; ++rank)
      roster.ranks.push_back({rank, 1000 + rank, rank / plan_.ranks_per_socket});
    for (int i = 0; i < sockets(); ++i) {
      std::string label = plan_.label;
      if (const auto at = label.find("{}"); at != std::string::npos)
        label = label.substr(0, at) + fmt::format("{}", i) + label.substr(at + 2);
      const bool best =
          plan_.source == wire::BandwidthSource::kLikwid || plan_.source == wire::BandwidthSource::kVirtual;
      roster.domains.push_back(
          {i, label, plan_.core_bandwidth, plan_.saturated_bandwidth, plan_.source, best ? "" : plan_.note});
    }
    return roster;
  }

  void tell(Rank rank, EventKind kind, Phase phase, std::uint64_t value) {
    of(rank).events.push_back({.time = now_, .value = value, .kind = kind, .phase = phase});
    of(rank).phase = phase;
  }

  void begin_step(Rank rank, wire::Step step) {
    of(rank).step = step;
    tell(rank, EventKind::kStep, of(rank).phase, static_cast<std::uint64_t>(step));
    if (rank == plan_.delayed_rank && step == plan_.delayed_step) {
      of(rank).held_until = now_ + plan_.delay;
      tell(rank, EventKind::kDelayBegin, Phase::kDelay, 1);
    } else {
      begin_work(rank);
    }
  }

  void begin_work(Rank rank) {
    of(rank).bytes_left = plan_.bytes_per_step;
    tell(rank, EventKind::kSwitch, Phase::kCompute, 0);
  }

  /// Whether a neighbour has posted its message of this step.
  bool has_posted(Rank rank, wire::Step step) {
    return of(rank).step > step || (of(rank).step == step && of(rank).phase == Phase::kWait);
  }

  double bandwidth_each(int socket) {
    int active = 0;
    for (Rank rank = socket * plan_.ranks_per_socket;
         rank < std::min((socket + 1) * plan_.ranks_per_socket, plan_.ranks); ++rank) {
      active += of(rank).phase == Phase::kCompute ? 1 : 0;
    }
    return active == 0 ? 0 : std::min(plan_.core_bandwidth, plan_.saturated_bandwidth / active);
  }

  void tick() {
    std::vector<double> each;
    for (int i = 0; i < sockets(); ++i) each.push_back(bandwidth_each(i));
    for (Rank rank = 0; rank < plan_.ranks; ++rank)
      work(rank, each[static_cast<std::size_t>(rank / plan_.ranks_per_socket)]);
    std::vector<Rank> ready;
    for (Rank rank = 0; rank < plan_.ranks; ++rank) {
      const wire::Step step = of(rank).step;
      if (of(rank).phase == Phase::kWait && has_posted(rank - 1, step) && has_posted(rank + 1, step))
        ready.push_back(rank);
    }
    for (const Rank rank : ready) begin_step(rank, of(rank).step + 1);
    if (now_ % kSample == Nanoseconds::zero()) sample();
  }

  void work(Rank rank, double bandwidth) {
    Process& process = of(rank);
    if (process.phase == Phase::kDelay && now_ >= process.held_until) {
      tell(rank, EventKind::kDelayEnd, Phase::kNone, 1);
      begin_work(rank);
    } else if (process.phase == Phase::kCompute) {
      const double bytes = bandwidth * std::chrono::duration<double>(kTick).count();
      process.bytes_left -= bytes;
      moved_[static_cast<std::size_t>(rank / plan_.ranks_per_socket)] += bytes;
      if (process.bytes_left < bytes / 2) tell(rank, EventKind::kSwitch, Phase::kWait, 0);
    }
  }

  void sample() {
    if (plan_.source == wire::BandwidthSource::kNone) return;
    samples_.resize(moved_.size());
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      samples_[i].push_back({.time = now_,
                             .value = static_cast<std::uint64_t>(moved_[i]),
                             .kind = samples_[i].empty() ? EventKind::kStart : EventKind::kBandwidth});
      moved_[i] = 0;
    }
  }

  const ProgramPlan& plan_;
  std::vector<Process> processes_;
  std::vector<double> moved_;
  std::vector<std::vector<Event>> samples_ = std::vector<std::vector<Event>>(static_cast<std::size_t>(sockets()));
  Nanoseconds now_{};
};

analysis::session::Findings findings_of(const timeline::Timeline& timeline, const ProgramPlan& plan) {
  using analysis::domains::DomainState;
  using std::chrono::microseconds, std::chrono::milliseconds;
  analysis::session::Findings out;
  out.window = {milliseconds(3000), milliseconds(5000)};
  constexpr double kActive[] = {10, 5, 6, 5};
  for (std::size_t i = 0; i < timeline.domains().size(); ++i) {
    analysis::domains::DomainActivity& domain = out.domains.emplace_back();
    domain.domain = static_cast<int>(i);
    domain.ranks = static_cast<int>(timeline.domains()[i].ranks.size());
    domain.active_now = domain.active_mean = std::min<double>(kActive[i % 4], domain.ranks);
    domain.saturation_point = plan.saturated_bandwidth / plan.core_bandwidth;
    domain.saturated_bandwidth = plan.saturated_bandwidth;
    domain.source = plan.source;
    domain.bandwidth = plan.source == wire::BandwidthSource::kNone ? 0 : 49.6e9;
    domain.note = timeline.domains()[i].info.note;
    domain.state = i % 4 == 0 ? DomainState::kLockstep : DomainState::kComputational;
  }
  out.steps = {
      .steps = 4000, .mean = microseconds(20000), .compute_mean = microseconds(13000), .wait_mean = microseconds(7000)};
  out.skew = {.step = 180, .spread = milliseconds(132)};
  out.ground = {.partners = {.offsets = {-1, 1}}, .shares_bandwidth = true, .typical_step = milliseconds(20)};
  analysis::waves::Wave& wave = out.waves.emplace_back();
  wave.origin_rank = plan.delayed_rank;
  wave.origin_step = plan.delayed_step;
  wave.start = milliseconds(800);
  wave.delay = plan.delay;
  for (analysis::waves::WaveDirection* direction : {&wave.up, &wave.down}) {
    direction->sign = direction == &wave.up ? 1 : -1;
    direction->leading.ranks_per_step = analysis::Estimate{.value = 1, .error = 0.0, .points = 20};
    direction->theory =
        analysis::waves::TheorySpeed{.ranks_per_step = 1, .distance = 1, .ranks_per_s = 0, .deviation = {}};
    direction->end = analysis::waves::WaveEnd::kAnnihilated;
    direction->front = {{.rank = 25,
                         .step = 60,
                         .arrival = milliseconds(1180),
                         .departure = milliseconds(2200),
                         .idle = milliseconds(1000)}};
  }
  return out;
}

/// All others wait for the rank that was held, and those of sockets out of lockstep also because bandwidth is shared.
analysis::causes::Causes causes_of(const timeline::Timeline& timeline, const ProgramPlan& plan) {
  using std::chrono::milliseconds;
  analysis::causes::Causes out;
  if (plan.delayed_rank >= timeline.ranks()) return out;
  out.ranks.resize(static_cast<std::size_t>(timeline.ranks()));
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    if (rank == plan.delayed_rank) continue;
    analysis::causes::RankCauses& each = out.ranks.of(static_cast<std::size_t>(rank));
    const bool direct = std::abs(rank - plan.delayed_rank) == 1;
    const Nanoseconds waited = milliseconds(1200 - 5 * std::abs(rank - plan.delayed_rank));
    each.by = {{plan.delayed_rank, {direct ? waited : Nanoseconds{0}, direct ? Nanoseconds{0} : waited}}};
    each.bandwidth = timeline.domain_of(rank) > 0 ? milliseconds(1100) : milliseconds(0);
    each.waited = waited + each.bandwidth;
    analysis::causes::Cost& costs = out.ranks.of(static_cast<std::size_t>(plan.delayed_rank)).costs;
    (direct ? costs.direct : costs.far) += waited;
  }
  return out;
}

/// Neighbours of a ring, as a program that is watched by its MPI calls has them.
std::shared_ptr<const analysis::session::MpiUse> mpi_of(const timeline::Timeline& timeline) {
  using analysis::session::Crossing;
  const Rank ranks = timeline.ranks();
  analysis::session::MpiUse use{.functions = {}, .matrix = {}, .ranks = std::uint64_t(ranks)};
  const auto add = [&](const char* name, std::uint64_t calls, double time_s, double share, Nanoseconds longest) {
    use.functions.push_back({.name = name,
                             .ranks = use.ranks,
                             .calls = calls,
                             .time_s = time_s,
                             .share = share,
                             .longest = longest,
                             .longest_rank = 6,
                             .unsized = calls,
                             .bytes = std::nullopt});
  };
  add("MPI_Waitall", 8000, 61.5, 0.82, std::chrono::milliseconds(1180));
  add("MPI_Allreduce", 200, 12.8, 0.17, std::chrono::milliseconds(45));
  use.functions.back().unsized = 0, use.functions.back().bytes = 1600;
  add("MPI_Isend", 8000, 0.75, 0.01, std::chrono::microseconds(310));
  use.functions.back().unsized = 0, use.functions.back().bytes = 64'000'000;
  add("MPI_Comm_dup", 40, 0.00002, 0, std::chrono::microseconds(1));
  for (Rank from = 0; from < ranks; ++from) {
    const Rank to = (from + 1) % ranks;
    use.matrix.pairs.push_back({from, to, {200, 1'600'000}, analysis::session::crossing_of(timeline, from, to)});
    use.matrix.all.messages += 200, use.matrix.all.bytes += 1'600'000;
    if (use.matrix.pairs.back().crosses == Crossing::kDomains)
      use.matrix.across_domains.messages += 200, use.matrix.across_domains.bytes += 1'600'000;
  }
  return std::make_shared<const analysis::session::MpiUse>(std::move(use));
}

}  // namespace

void run(const ProgramPlan& plan, timeline::Timeline& timeline) { Machine(plan).run(timeline); }

SyntheticSession::SyntheticSession(const ProgramPlan& plan) {
  run(plan, timeline);
  findings = findings_of(timeline, plan);
  findings.causes = causes_of(timeline, plan);
  findings.mpi = mpi_of(timeline);
  remarks = {{analysis::session::Remark::Kind::kDelay, std::chrono::milliseconds(800), 5, 40,
              "delay began on rank 5, step 40"},
             {analysis::session::Remark::Kind::kWave, std::chrono::milliseconds(2000), 5, 40,
              "idle wave from rank 5 met its other front at rank 25"},
             {analysis::session::Remark::Kind::kDomain, std::chrono::milliseconds(2400), -1, wire::kNoStep,
              "socket 2 left lockstep: 6.0 of 10 ranks are active"}};
  session.name = "demo-4711";
  session.label = "memory-bound";
  session.link = LinkCondition::kLive;
  session.lag = std::chrono::milliseconds(60);
  session.events_per_second = 12400;
  session.recording = {.on = true, .bytes = 1'100'000, .failure = ""};
  session.no_command.reset();
  session.lesson = Lesson{.title = "Hit one socket, and the others fall out of step",
                          .page = 1,
                          .pages = 2,
                          .text = "All forty ranks compute in lockstep. Rank 5 will be held for 2 s.",
                          .now = "How many of the ten ranks of socket 1 will be active afterwards?",
                          .figure = "Fig. 4",
                          .source = "ISC High Performance 2020",
                          .expected = "a number in ranks",
                          .asks = true,
                          .has_next = true};
}

}  // namespace idlewave::view::testing
