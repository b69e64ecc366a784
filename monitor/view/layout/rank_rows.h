#pragma once
// Which ranks the map's lines show.

#include <optional>
#include <span>
#include <vector>

#include "monitor/view/state.h"

namespace idlewave::view::layout {

/// Neighbouring ranks of one domain, all on the map.
struct RankSegment {
  RankRange ranks;
  int domain = -1;
};
/// What filter, zoom and scroll leave, in ascending order.
std::vector<RankSegment> shown_segments(const State& state, const timeline::Timeline& timeline);

/// Ranks that pass the filter, whether or not they are scrolled into view.
Rank passing_ranks(const State& state, Rank ranks);
/// Place of a rank among those that pass the filter; of the next one if it does not.
Rank place_of(const State& state, Rank ranks, Rank rank);
/// The rank at a place; the last one beyond the end. -1 if none passes.
Rank rank_at(const State& state, Rank ranks, Rank place);

/// One line of the map: a label between domains, or cells. A cell is split into an upper and a lower half where two
/// groups share a line.
struct MapLine {
  int label_of = -1;  ///< Domain; then there are no cells.
  int top = -1;       ///< Index into RankRows::groups.
  int bottom = -1;    ///< The same as `top` where a group fills the line; -1: nothing.
  bool domain_begins = false;
  int thread = -1;  ///< Index into RankRows::threads, of the rank that `top` says; -1: of that itself.
};
struct RankRows {
  std::vector<RankRange> groups;  ///< Ranks that share a cell.
  std::vector<MapLine> lines;     ///< At most as many as there was room for.
  std::vector<wire::ThreadId> threads;
  int ranks_per_group = 1;
};

/// Shows all segments in at most `rows` lines of `halves` (1 or 2) groups each: at the finest resolution that fits,
/// labels between domains where they cost none of it, several halves or lines for a rank where there is room.
RankRows arrange_ranks(std::span<const RankSegment> segments, int rows, int halves);

/// The same with a line for each thread below its rank, if there is one for each rank and thread; else for the threads of the
/// rank at the cursor alone; nothing: there is no room even for that, or no thread.
std::optional<RankRows> arrange_threads(const State& state, const timeline::Timeline& timeline,
                                        std::span<const RankSegment> segments, int rows);

}  // namespace idlewave::view::layout
