#pragma once
// Whether two timelines know the same.

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::timeline {

inline void expect_same_steps(const Lane& a, const Lane& b) {
  ASSERT_EQ(a.steps().size(), b.steps().size());
  for (std::size_t i = 0; i < a.steps().size(); ++i) {
    const StepRecord its = a.steps()[i], other = b.steps()[i];
    ASSERT_EQ(its.step, other.step);
    ASSERT_EQ(its.begin, other.begin);
    ASSERT_EQ(its.end, other.end);
    ASSERT_EQ(its.sums(), other.sums());
  }
}

inline void expect_same_lane(const Lane& a, const Lane& b) {
  EXPECT_EQ(a.state(), b.state());
  EXPECT_EQ(a.phase(), b.phase());
  EXPECT_EQ(a.first(), b.first());
  EXPECT_EQ(a.last(), b.last());
  EXPECT_EQ(a.known_until(), b.known_until());
  EXPECT_EQ(a.threads(), b.threads());
  EXPECT_EQ(a.events(), b.events());
  expect_same_steps(a, b);
}

inline std::vector<wire::Event> events_kept(const Lane& lane) {
  std::vector<wire::Event> events;
  lane.for_each_event(Nanoseconds::min(), Nanoseconds::max(),
                      [&](const wire::Event& event) { events.push_back(event); });
  return events;
}

inline void expect_same_lists(const Timeline& a, const Timeline& b) {
  ASSERT_EQ(a.losses().size(), b.losses().size());
  for (std::size_t i = 0; i < a.losses().size(); ++i) {
    const Loss &its = a.losses()[i], &other = b.losses()[i];
    EXPECT_EQ(its.kind, other.kind) << i;
    EXPECT_EQ(its.node, other.node) << i;
    EXPECT_EQ(its.rank, other.rank) << i;
    EXPECT_EQ(its.from, other.from) << i;
    EXPECT_EQ(its.to, other.to) << i;
    EXPECT_EQ(its.count, other.count) << i;
    EXPECT_EQ(its.detail, other.detail) << i;
  }
  ASSERT_EQ(a.delays().size(), b.delays().size());
  for (std::size_t i = 0; i < a.delays().size(); ++i) {
    const Delay &its = a.delays()[i], &other = b.delays()[i];
    EXPECT_EQ(its.rank, other.rank) << i;
    EXPECT_EQ(its.command, other.command) << i;
    EXPECT_EQ(its.step, other.step) << i;
    EXPECT_EQ(its.begin, other.begin) << i;
    EXPECT_EQ(its.end, other.end) << i;
    EXPECT_EQ(its.ended, other.ended) << i;
  }
  ASSERT_EQ(a.commands().size(), b.commands().size());
  for (std::size_t i = 0; i < a.commands().size(); ++i) {
    const CommandRecord &its = a.commands()[i], &other = b.commands()[i];
    EXPECT_EQ(its.command.id, other.command.id) << i;
    EXPECT_EQ(its.sent, other.sent) << i;
    EXPECT_EQ(its.released, other.released) << i;
    EXPECT_EQ(its.in_effect, other.in_effect) << i;
  }
}

/// But for the events whose detail each has forgotten.
inline void expect_same_history(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.events(), b.events());
  EXPECT_EQ(a.begin(), b.begin());
  EXPECT_EQ(a.now(), b.now());
  EXPECT_EQ(a.ended(), b.ended());
  EXPECT_EQ(a.dropped(), b.dropped());
  EXPECT_EQ(a.latest_step(), b.latest_step());
  expect_same_lists(a, b);
  ASSERT_EQ(a.domains().size(), b.domains().size());
  for (int domain = 0; domain < int(a.domains().size()); ++domain) {
    ASSERT_EQ(a.samples(domain).size(), b.samples(domain).size());
    for (std::size_t i = 0; i < a.samples(domain).size(); ++i)
      EXPECT_EQ(a.samples(domain)[i].end, b.samples(domain)[i].end);
  }
  ASSERT_EQ(a.ranks(), b.ranks());
  for (Rank rank = 0; rank < a.ranks(); ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    ASSERT_EQ(a.lane(rank) == nullptr, b.lane(rank) == nullptr);
    if (a.lane(rank) != nullptr) expect_same_lane(*a.lane(rank), *b.lane(rank));
  }
}

/// Also of the events that are kept, and of what is summed from buckets.
inline void expect_same_detail(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.bytes_used(), b.bytes_used());
  for (Rank rank = 0; rank < a.ranks(); ++rank) {
    if (a.lane(rank) == nullptr) continue;
    EXPECT_EQ(events_kept(*a.lane(rank)), events_kept(*b.lane(rank)));
    for (int slice = 0; slice < 16; ++slice)
      EXPECT_EQ(a.lane(rank)->times(a.now() / 16 * slice, a.now() / 16 * (slice + 1)),
                b.lane(rank)->times(a.now() / 16 * slice, a.now() / 16 * (slice + 1)));
  }
  std::vector<Shares> picture(40), other(40);
  const std::array rows{Timeline::RankRange{0, a.ranks()}};
  a.picture(rows, Nanoseconds{0}, a.now(), 40, picture), b.picture(rows, Nanoseconds{0}, a.now(), 40, other);
  for (std::size_t i = 0; i < picture.size(); ++i) EXPECT_EQ(picture[i].of, other[i].of) << i;
}

}  // namespace idlewave::timeline
