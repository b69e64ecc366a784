#pragma once
// A core-bound bulk-synchronous program as a table of times, by the rules of the scenario files (eager: a receive ends
// when the sender has posted, a send when it is posted; rendezvous: both end when both have posted; T = 0), turned into
// the events that its ranks would report.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "monitor/timeline/timeline.h"
#include "tests/analysis/ms.h"

namespace idlewave::test {

using wire::Nanoseconds;
using wire::Rank;

struct RingModel {
  Rank ranks = 40;
  int steps = 100;
  bool ring = true;
  std::vector<int> distances = {-1, 1};
  bool rendezvous = false;
  bool split = false;
  int collective_every = 0;  ///< Steps: all end it together, behind the exchange; 0: none.
  Nanoseconds work = ms(10);
  double noise_mean_ms = 0;  ///< Exponential, added to each work phase.
  unsigned seed = 1;
  struct Delay {
    Rank rank;
    int step;
    Nanoseconds length;
  };
  std::vector<Delay> delays;
  bool announced = true;                    ///< Else a delayed rank seems to work for so long.
  std::function<bool(int step)> is_untold;  ///< That it begins; its phases are told.
  std::function<Nanoseconds(Rank, int step)> more_work;
  std::function<Nanoseconds(Rank, int step)> stopped_after_wait;
  Rank ranks_per_domain = 10;

  /// Times in ns: when rank r began step k, ended its work, and ended its waiting.
  struct Times {
    double begin = 0, delay_end = 0, work_end = 0, wait_end = 0;
  };
  std::vector<std::vector<Times>> times;  ///< [step][rank]

  int partner(Rank rank, int distance) const {
    const int other = rank + distance;
    const int wrapped = (other % ranks + ranks) % ranks;
    return wrapped == rank || (!ring && other != wrapped) ? -1 : wrapped;
  }

  void run() {
    std::mt19937 random(seed);
    std::exponential_distribution<double> noise(noise_mean_ms > 0 ? 1 / (noise_mean_ms * 1e6) : 1);
    times.assign(std::size_t(steps), std::vector<Times>(std::size_t(ranks)));
    for (int step = 0; step < steps; ++step) {
      auto& row = times[std::size_t(step)];
      for (Rank rank = 0; rank < ranks; ++rank) {
        Times& t = row[std::size_t(rank)];
        t.begin = step == 0 ? 0 : times[std::size_t(step - 1)][std::size_t(rank)].wait_end;
        t.delay_end = t.begin;
        for (const Delay& delay : delays)
          if (delay.rank == rank && delay.step == step) t.delay_end += double(delay.length.count());
        t.work_end = t.delay_end + double(work.count()) + (noise_mean_ms > 0 ? noise(random) : 0);
        if (more_work) t.work_end += double(more_work(rank, step).count());
      }
      exchange(row);
      if (collective_every > 0 && (step + 1) % collective_every == 0) synchronise(row);
      for (Rank rank = 0; stopped_after_wait && rank < ranks; ++rank)
        row[std::size_t(rank)].wait_end += double(stopped_after_wait(rank, step).count());
    }
  }

  static void synchronise(std::vector<Times>& row) {
    const double last = std::ranges::max(row, {}, &Times::wait_end).wait_end;
    for (Times& times : row) times.wait_end = last;
  }

  void exchange(std::vector<Times>& row) const {
    std::vector<double> post(row.size());
    for (std::size_t r = 0; r < row.size(); ++r) post[r] = row[r].work_end;
    const std::size_t rounds = split ? distances.size() : 1;
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<double> done = post;
      for (Rank rank = 0; rank < ranks; ++rank) {
        for (std::size_t i = 0; i < distances.size(); ++i) {
          if (split && i != round) continue;
          const int from = partner(rank, -distances[i]), to = partner(rank, distances[i]);
          double& end = done[std::size_t(rank)];
          if (from >= 0) end = std::max(end, post[std::size_t(from)]);
          if (to >= 0 && rendezvous) end = std::max(end, post[std::size_t(to)]);
        }
      }
      post = done;
    }
    for (std::size_t r = 0; r < row.size(); ++r) row[r].wait_end = post[r];
  }

  wire::Roster roster() const {
    wire::Roster roster;
    roster.world_size = ranks;
    for (Rank rank = 0; rank < ranks; ++rank) roster.ranks.push_back({rank, 1000 + rank, rank / ranks_per_domain});
    for (Rank domain = 0; domain <= (ranks - 1) / ranks_per_domain; ++domain) {
      wire::DomainInfo info;
      info.id = domain;
      info.label = "socket " + std::to_string(domain);
      info.core_bandwidth = 10e9;
      info.saturated_bandwidth = 50e9;
      info.source = wire::BandwidthSource::kVirtual;
      roster.domains.push_back(info);
    }
    return roster;
  }

  std::vector<wire::Event> events_of(Rank rank) const {
    using wire::EventKind;
    using wire::Phase;
    std::vector<wire::Event> events;
    const auto add = [&](double at, EventKind kind, Phase phase, std::uint64_t value = 0) {
      wire::Event event;
      event.time = Nanoseconds(std::llround(at));
      event.kind = kind;
      event.phase = phase;
      event.value = value & wire::kMaxEventValue;
      events.push_back(event);
    };
    add(0, EventKind::kStart, Phase::kNone);
    for (int step = 0; step < steps; ++step) {
      const Times& t = times[std::size_t(step)][std::size_t(rank)];
      const Phase before = step == 0 ? Phase::kNone : Phase::kWait;
      if (!is_untold || !is_untold(step)) add(t.begin, EventKind::kStep, before, std::uint64_t(step));
      if (announced && t.delay_end > t.begin) {
        add(t.begin, EventKind::kDelayBegin, Phase::kDelay, 7);
        add(t.delay_end, EventKind::kDelayEnd, before, 7);
      }
      add(announced ? t.delay_end : t.begin, step == 0 ? EventKind::kEnter : EventKind::kSwitch, Phase::kCompute);
      add(t.work_end, EventKind::kSwitch, Phase::kWait);
    }
    add(times.back()[std::size_t(rank)].wait_end, EventKind::kStop, Phase::kNone);
    return events;
  }

  /// Tells `timeline` the whole program as one that was started `later`.
  void run_again(timeline::Timeline& timeline, Nanoseconds later) const {
    timeline.apply_roster("n1", roster());
    Nanoseconds last{};
    for (Rank rank = 0; rank < ranks; ++rank) {
      std::vector<wire::Event> events = events_of(rank);
      for (wire::Event& event : events) last = std::max(last, event.time += later);
      timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
    }
    timeline.advance("n1", last);
  }

  /// As a session comes: every `slice` what all ranks did in it; calls look() after each.
  template <class Look>
  void tell_in_slices(timeline::Timeline& timeline, Nanoseconds slice, Look look) const {
    timeline.apply_roster("n1", roster());
    std::vector<std::vector<wire::Event>> events;
    for (Rank rank = 0; rank < ranks; ++rank) events.push_back(events_of(rank));
    Nanoseconds last{};
    for (const auto& lane : events) last = std::max(last, lane.back().time);
    std::vector<std::size_t> told(events.size(), 0);
    for (Nanoseconds until = slice; until < last + slice; until += slice) {
      for (std::size_t rank = 0; rank < events.size(); ++rank) {
        const auto from = events[rank].begin() + std::ptrdiff_t(told[rank]);
        const auto to = std::ranges::upper_bound(from, events[rank].end(), until, {}, &wire::Event::time);
        timeline.append("n1", {wire::LaneId::Kind::kRank, Rank(rank)}, {from, to});
        told[rank] += std::size_t(to - from);
      }
      timeline.advance("n1", std::min(until, last));
      look();
    }
  }

  /// Fills `timeline` with everything before `until`; what was before `since` is there already.
  void fill(timeline::Timeline& timeline, Nanoseconds until = Nanoseconds::max(),
            Nanoseconds since = Nanoseconds::min()) const {
    timeline.apply_roster("n1", roster());
    Nanoseconds last{};
    for (Rank rank = 0; rank < ranks; ++rank) {
      std::vector<wire::Event> events = events_of(rank);
      std::erase_if(events, [&](const wire::Event& event) { return event.time >= until || event.time < since; });
      if (!events.empty()) last = std::max(last, events.back().time);
      timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
    }
    timeline.advance("n1", std::min(until, last));
  }
};

}  // namespace idlewave::test
