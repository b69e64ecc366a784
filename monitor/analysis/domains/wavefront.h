#pragma once
// The stable wavefront of the steady state: how the begins of a step lie over the ranks (afzal-2020, section 4).

#include <optional>
#include <vector>

#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/window.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::domains {

/// A stretch of ranks over which the front is a straight line.
struct FrontPiece {
  Rank first = 0;  ///< Also the last of the piece before: where the front turns.
  Rank last = 0;
  std::optional<Estimate> ranks_per_s;  ///< Positive: higher ranks later. Nothing where they begin together.
};

/// Over one domain: the mean of several steps, so that noise does not bend it.
struct DomainFront {
  Nanoseconds amplitude{};         ///< Between the first and the last of those means.
  std::vector<FrontPiece> pieces;  ///< Up to four; none where the ranks begin together.
  /// Share of the variance that the pieces account for, [0, 1].
  std::optional<double> fit;
  /// Ranks from crest to crest: of the strongest Fourier component of the front over the domain's ranks.
  std::optional<double> wavelength;
  double ranks_per_s = 0;  ///< Of one straight line through all; 0 where it hardly rises.
};

struct Wavefront {
  wire::Step step = wire::kNoStep;   ///< The latest that all ranks had begun at the window's end.
  Nanoseconds amplitude{};           ///< Of that step: latest begin minus earliest.
  int steps = 0;                     ///< So many, up to that one, the domains' fronts are means of.
  std::optional<double> wavelength;  ///< As that of a domain, over all ranks.
  std::vector<DomainFront> domains;  ///< In the order of Timeline::domains().
};
std::optional<Wavefront> find_wavefront(const timeline::Timeline& timeline, Window window);

}  // namespace idlewave::analysis::domains
