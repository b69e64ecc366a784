#include "tests/analysis/step_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace idlewave::test {

using tests::ExactProgram;
using tests::ExactRun;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;
using wire::Rank;

Table table_of(const ExactProgram& program, const ExactRun& run) {
  Table table{.ranks = std::vector<std::vector<Times>>(std::size_t(program.ranks)),
              .ranks_per_domain = program.ranks_per_domain};
  if (program.bandwidth) {
    table.core_bandwidth = program.bandwidth(1);
    table.saturated_bandwidth = program.bandwidth(1000);
    table.alone = ms(1e3 * program.volume / program.bandwidth(1));
  }
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    const auto& starts = run.step_start[std::size_t(rank)];
    for (int step = 0; step + 1 < program.steps; ++step) {
      const auto& work = run.work[std::size_t(rank)][std::size_t(step)];
      const double noise = program.noise ? program.noise(rank, step) : 0;
      const Nanoseconds end = ms(1e3 * starts[std::size_t(step) + 1]);
      table.ranks[std::size_t(rank)].push_back({.begin = ms(1e3 * starts[std::size_t(step)]),
                                                .work_begin = ms(1e3 * work.from),
                                                .work_end = std::min(end, ms(1e3 * work.to)),
                                                .post = std::min(end, ms(1e3 * (work.to + noise))),
                                                .end = end});
    }
  }
  return table;
}

namespace {

std::vector<wire::Event> events_of(const Table& table, Rank rank) {
  std::vector<wire::Event> events{{table.at(rank, 0).begin, 0, EventKind::kStart, Phase::kNone}};
  Phase phase = Phase::kNone;
  std::uint64_t step = 0;
  for (const Times& t : table.ranks[std::size_t(rank)]) {
    events.push_back({t.begin, step++, EventKind::kStep, phase});
    if (t.work_begin > t.begin) {
      events.push_back({t.begin, 7, EventKind::kDelayBegin, Phase::kDelay});
      events.push_back({t.work_begin, 7, EventKind::kDelayEnd, phase});
    }
    events.push_back(
        {t.work_begin, 0, phase == Phase::kNone ? EventKind::kEnter : EventKind::kSwitch, Phase::kCompute});
    if (t.post > t.work_end) events.push_back({t.work_end, 0, EventKind::kSwitch, Phase::kNoise});
    events.push_back({t.post, 0, EventKind::kSwitch, Phase::kWait});
    phase = Phase::kWait;
  }
  events.push_back({table.ranks[std::size_t(rank)].back().end, 0, EventKind::kStop, Phase::kNone});
  return events;
}

}  // namespace

wire::Roster roster_of(const Table& table) {
  wire::Roster roster;
  roster.world_size = table.size();
  for (Rank rank = 0; rank < table.size(); ++rank)
    roster.ranks.push_back({rank, 1000 + rank, rank / table.ranks_per_domain});
  for (int domain = 0; domain <= (table.size() - 1) / table.ranks_per_domain; ++domain) {
    wire::DomainInfo info;
    info.id = domain;
    info.label = fmt::format("socket {}", domain);
    info.core_bandwidth = table.core_bandwidth;
    info.saturated_bandwidth = table.saturated_bandwidth;
    roster.domains.push_back(info);
  }
  return roster;
}

EventsOfRanks events_of(const Table& table) {
  EventsOfRanks events;
  for (Rank rank = 0; rank < table.size(); ++rank) events.push_back(events_of(table, rank));
  return events;
}

timeline::Timeline timeline_of(const Table& table, const EventsOfRanks& events, const wire::Roster& roster) {
  timeline::Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  timeline.begin_at("n1", Nanoseconds{0});
  Nanoseconds last{};
  for (Rank rank = 0; rank < table.size(); ++rank) {
    const auto& its = events[std::size_t(rank)];
    if (its.empty()) continue;
    last = std::max(last, its.back().time);
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, its);
  }
  timeline.advance("n1", last);
  return timeline;
}

timeline::Timeline timeline_of(const Table& table, const EventsOfRanks& events) {
  return timeline_of(table, events, roster_of(table));
}

timeline::Timeline timeline_of(const Table& table) { return timeline_of(table, events_of(table)); }

}  // namespace idlewave::test
