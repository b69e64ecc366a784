#include "monitor/view/layout/rank_rows.h"

#include <algorithm>
#include <numeric>

namespace idlewave::view::layout {

namespace {

constexpr int kMostHalvesPerRank = 64;

Rank size_of(const RankRange& range) { return range.last - range.first; }
int divided_up(int a, int b) { return (a + b - 1) / b; }

std::vector<RankRange> passing(const State& state, Rank ranks) {
  if (state.filter.empty()) return {RankRange{0, ranks}};
  std::vector<RankRange> out;
  for (const RankRange& range : state.filter) {
    const RankRange cut{std::clamp(range.first, 0, ranks), std::clamp(range.last, 0, ranks)};
    if (size_of(cut) > 0) out.push_back(cut);
  }
  return out;
}

/// What is left of consecutive ranges when only [first, first + count) of their ranks, counted through, are wanted.
std::vector<RankRange> cut(std::span<const RankRange> ranges, Rank first, Rank count) {
  std::vector<RankRange> out;
  for (const RankRange& range : ranges) {
    const Rank begin = range.first + std::clamp(first, 0, size_of(range));
    const Rank end = std::min(range.last, begin + count);
    first = std::max(first - size_of(range), 0);
    if (end <= begin) continue;
    count -= end - begin;
    out.push_back({begin, end});
  }
  return out;
}

void split_by_domain(const RankRange& range, const timeline::Timeline& timeline, std::vector<RankSegment>& out) {
  for (Rank rank = range.first; rank < range.last; ++rank) {
    const int domain = timeline.domain_of(rank);
    if (rank == range.first || domain != out.back().domain) out.push_back({{rank, rank}, domain});
    out.back().ranks.last = rank + 1;
  }
}

std::vector<RankSegment> without_domains(std::span<const RankSegment> segments) {
  std::vector<RankSegment> out;
  for (const RankSegment& segment : segments) {
    if (out.empty() || out.back().ranks.last != segment.ranks.first) out.push_back({segment.ranks, -1});
    out.back().ranks.last = segment.ranks.last;
  }
  return out;
}

Rank total(std::span<const RankSegment> segments) {
  const auto add = [](Rank sum, const RankSegment& s) { return sum + size_of(s.ranks); };
  return std::accumulate(segments.begin(), segments.end(), Rank{0}, add);
}

/// How a set of segments is to be laid out.
struct Plan {
  int per_group = 1;
  int halves_per_group = 1;  ///< More than 1 only with one rank in a group.
  int halves = 1;            ///< Of a line.
  bool labels = false;
};

int lines_needed(std::span<const RankSegment> segments, const Plan& plan) {
  int lines = 0, groups = 0;
  for (const RankSegment& segment : segments) {
    const int own = divided_up(size_of(segment.ranks), plan.per_group);
    groups += own;
    lines += 1 + divided_up(own * plan.halves_per_group, plan.halves);
  }
  return plan.labels ? lines : divided_up(groups * plan.halves_per_group, plan.halves);
}

/// The finest plan that fits. Labels may cost height, but not so much that a rank has less than a line.
Plan plan_for(std::span<const RankSegment> segments, int rows, int halves) {
  const Rank ranks = total(segments);
  Plan plan{.halves = halves};
  if (ranks <= rows * halves) {
    plan.halves_per_group = std::clamp(rows * halves / ranks, 1, kMostHalvesPerRank);
  } else {
    plan.per_group = std::max(divided_up(ranks, rows * halves), 1);
    const bool can_fit = static_cast<int>(segments.size()) <= rows * halves;
    while (can_fit && lines_needed(segments, plan) > rows) ++plan.per_group;
  }
  if (segments.size() < 2) return plan;
  Plan labelled = plan;
  labelled.labels = true;
  while (labelled.halves_per_group > halves && lines_needed(segments, labelled) > rows) --labelled.halves_per_group;
  return lines_needed(segments, labelled) <= rows ? labelled : plan;
}

/// Groups that end where a domain ends show each domain truly, but on a low screen they don't fit, or leave too much of
/// it empty.
bool is_too_coarse(const Plan& apart, const Plan& together, std::span<const RankSegment> segments, int rows) {
  const int lines = lines_needed(segments, apart);
  return lines > rows || (together.per_group < apart.per_group && lines < rows * 3 / 4.0);
}

/// Puts groups into lines, one half after the other.
class LineFiller {
 public:
  LineFiller(const Plan& plan, RankRows& rows) : plan_(plan), rows_(rows) {}

  void add_segment(const RankSegment& segment) {
    if (plan_.labels && segment.domain >= 0) start_labelled(segment.domain);
    for (Rank first = segment.ranks.first; first < segment.ranks.last; first += plan_.per_group) {
      rows_.groups.push_back({first, std::min<Rank>(first + plan_.per_group, segment.ranks.last)});
      for (int half = 0; half < plan_.halves_per_group; ++half) add_half(first == segment.ranks.first && half == 0);
    }
  }

 private:
  void start_labelled(int domain) {
    rows_.lines.push_back({.label_of = domain});
    half_open_ = false;
  }

  void add_half(bool domain_begins) {
    const int group = static_cast<int>(rows_.groups.size()) - 1;
    if (half_open_) {
      rows_.lines.back().bottom = group;
    } else {
      rows_.lines.push_back({.top = group, .bottom = plan_.halves == 1 ? group : -1});
    }
    rows_.lines.back().domain_begins |= domain_begins;
    half_open_ = plan_.halves == 2 && !half_open_;
  }

  const Plan& plan_;
  RankRows& rows_;
  bool half_open_ = false;
};

void add_threads(const timeline::Timeline& timeline, Rank rank, std::vector<wire::ThreadId>& out) {
  for (int thread = 1; thread <= timeline.threads(rank); ++thread)
    if (timeline.lane(wire::ThreadId{rank, thread}) != nullptr) out.push_back({rank, thread});
}

/// Of those ranks, ascending.
std::vector<wire::ThreadId> all_threads(const timeline::Timeline& timeline, std::span<const RankSegment> segments) {
  std::vector<wire::ThreadId> out;
  for (const RankSegment& segment : segments)
    for (Rank rank = segment.ranks.first; rank < segment.ranks.last; ++rank) add_threads(timeline, rank, out);
  return out;
}

/// Below the last line of each rank those of its threads.
void unfold(RankRows& rows) {
  std::vector<MapLine> lines;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rows.lines.size(); ++i) {
    const MapLine& line = rows.lines[i];
    lines.push_back(line);
    const bool is_last = i + 1 == rows.lines.size() || rows.lines[i + 1].top != line.top;
    if (line.label_of >= 0 || !is_last) continue;
    const Rank rank = rows.groups[static_cast<std::size_t>(line.top)].first;
    for (; next < rows.threads.size() && rows.threads[next].rank == rank; ++next)
      lines.push_back({.top = line.top, .bottom = line.top, .thread = static_cast<int>(next)});
  }
  rows.lines = std::move(lines);
}

}  // namespace

Rank passing_ranks(const State& state, Rank ranks) {
  const auto ranges = passing(state, ranks);
  return std::accumulate(ranges.begin(), ranges.end(), Rank{0},
                         [](Rank sum, const RankRange& r) { return sum + size_of(r); });
}

Rank place_of(const State& state, Rank ranks, Rank rank) {
  Rank place = 0;
  for (const RankRange& range : passing(state, ranks)) {
    place += std::clamp(rank - range.first, 0, size_of(range));
  }
  return place;
}

Rank rank_at(const State& state, Rank ranks, Rank place) {
  Rank last = -1;
  for (const RankRange& range : passing(state, ranks)) {
    if (place < size_of(range)) return range.first + std::max(place, 0);
    place -= size_of(range);
    last = range.last - 1;
  }
  return last;
}

std::vector<RankSegment> shown_segments(const State& state, const timeline::Timeline& timeline) {
  const auto all = passing(state, timeline.ranks());
  const Rank count = state.ranks_shown > 0 ? state.ranks_shown : timeline.ranks();
  std::vector<RankSegment> out;
  for (const RankRange& range : cut(all, std::max(state.first_rank, 0), count)) split_by_domain(range, timeline, out);
  return out;
}

RankRows arrange_ranks(std::span<const RankSegment> segments, int rows, int halves) {
  RankRows out;
  if (segments.empty() || rows <= 0) return out;
  const std::vector<RankSegment> merged = without_domains(segments);
  const Plan apart = plan_for(segments, rows, halves), together = plan_for(merged, rows, halves);
  const bool mix = is_too_coarse(apart, together, segments, rows);
  const Plan& plan = mix ? together : apart;
  if (mix) segments = merged;
  out.ranks_per_group = plan.per_group;
  LineFiller filler(plan, out);
  for (const RankSegment& segment : segments) filler.add_segment(segment);
  out.lines.resize(std::min(out.lines.size(), static_cast<std::size_t>(rows)));
  return out;
}

std::optional<RankRows> arrange_threads(const State& state, const timeline::Timeline& timeline,
                                        std::span<const RankSegment> segments, int rows) {
  const Rank ranks = total(segments);
  const auto fits = [&](const auto& threads) { return !threads.empty() && ranks + std::ssize(threads) <= rows; };
  std::vector<wire::ThreadId> threads;
  if (ranks <= rows) threads = all_threads(timeline, segments);
  if (!fits(threads)) {
    threads.clear();
    const auto holds = [&](const RankSegment& s) {
      return state.cursor_rank >= s.ranks.first && state.cursor_rank < s.ranks.last;
    };
    if (std::ranges::any_of(segments, holds)) add_threads(timeline, state.cursor_rank, threads);
  }
  if (!fits(threads)) return std::nullopt;
  RankRows out = arrange_ranks(segments, rows - static_cast<int>(threads.size()), 1);
  out.threads = std::move(threads);
  unfold(out);
  return out;
}

}  // namespace idlewave::view::layout
