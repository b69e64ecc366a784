#include "monitor/analysis/domains/wavefront.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::domains {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;
using wire::Step;

/// A domain whose ranks begin a step within this share of its length begins it together.
constexpr double kTogether = 0.1;
constexpr std::size_t kSteps = 8;
constexpr std::size_t kPieces = 4;
/// Of the pieces at both ends; those between them may have two.
constexpr std::size_t kLeastPoints = 3;
/// Of a front that is fitted; of more ranks every second one, or third.
constexpr std::size_t kMostPoints = 256;
constexpr std::size_t kMostWaves = 64;
/// Deviations below this share of a step are none.
constexpr double kExact = 0.02;

/// Begins in seconds, from their mean, over rank numbers.
struct Profile {
  std::vector<double> ranks;
  std::vector<double> seconds;
};

/// The step and those before it, as its first rank counts them, newest first.
std::vector<Step> latest_steps(const Timeline& timeline, std::span<const Rank> ranks, Step newest, Nanoseconds at) {
  std::vector<Step> steps;
  const Lane* lane = ranks.empty() ? nullptr : timeline.lane(ranks.front());
  const auto last = lane ? lane->step(newest, at) : std::nullopt;
  if (!last) return steps;
  std::size_t begun = lane->steps_begun_before(last->begin + Nanoseconds{1});
  while (begun > 0 && steps.size() < kSteps) {
    const Step before = lane->steps()[--begun].step;
    if (!steps.empty() && before >= steps.back()) break;
    steps.push_back(before);
  }
  return steps;
}

/// Adds the begins of one step; false where some rank does not keep it.
bool add_step(const Timeline& timeline, std::span<const Rank> ranks, Step step, Nanoseconds at,
              std::vector<double>& sums) {
  std::vector<double> begins;
  double mean = 0;
  for (const Rank rank : ranks) {
    const Lane* lane = timeline.lane(rank);
    const auto record = lane ? lane->step(step, at) : std::nullopt;
    if (!record) return false;
    begins.push_back(std::chrono::duration<double>(record->begin).count());
    mean += begins.back() / double(ranks.size());
  }
  for (std::size_t i = 0; i < begins.size(); ++i) sums[i] += begins[i] - mean;
  return true;
}

std::optional<Profile> profile_of(const Timeline& timeline, std::span<const Rank> ranks, std::span<const Step> steps,
                                  Nanoseconds at) {
  Profile profile{{ranks.begin(), ranks.end()}, std::vector<double>(ranks.size(), 0)};
  std::size_t taken = 0;
  while (taken < steps.size() && add_step(timeline, ranks, steps[taken], at, profile.seconds)) ++taken;
  if (taken == 0 || ranks.size() < 2) return std::nullopt;
  for (double& seconds : profile.seconds) seconds /= double(taken);
  return profile;
}

Profile thinned(const Profile& profile, std::size_t most) {
  const std::size_t stride = (profile.ranks.size() + most - 1) / most;
  Profile thin;
  for (std::size_t i = 0; i < profile.ranks.size(); i += stride)
    thin.ranks.push_back(profile.ranks[i]), thin.seconds.push_back(profile.seconds[i]);
  return thin;
}

double amplitude_of(const Profile& profile) {
  const auto [low, high] = std::ranges::minmax(profile.seconds);
  return high - low;
}

/// Sums over the first points, so that the deviations from the best line through any of them cost nothing.
class Lines {
 public:
  explicit Lines(const Profile& profile) : sums_(1) {
    for (std::size_t i = 0; i < profile.ranks.size(); ++i) {
      const double x = profile.ranks[i] - profile.ranks.front(), y = profile.seconds[i];
      const Sums& s = sums_.back();
      sums_.push_back({s.x + x, s.y + y, s.xx + x * x, s.xy + x * y, s.yy + y * y});
    }
  }
  /// Sum of squared deviations from the line through the points [first, last].
  double deviation(std::size_t first, std::size_t last) const {
    const Sums &a = sums_[first], &b = sums_[last + 1];
    const double n = double(last - first + 1), x = (b.x - a.x) / n, y = (b.y - a.y) / n;
    const double xx = b.xx - a.xx - n * x * x, xy = b.xy - a.xy - n * x * y, yy = b.yy - a.yy - n * y * y;
    return std::max(0.0, xx > 0 ? yy - xy * xy / xx : yy);
  }

 private:
  struct Sums {
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  };
  std::vector<Sums> sums_;
};

struct Polyline {
  double deviation = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> turns;  ///< First point, where it turns, last point.
};

/// The best ways to lay 1, 2, ... lines end to end over all points, each beginning where the one before ends.
std::vector<Polyline> best_fits(const Profile& profile) {
  const Lines lines(profile);
  const std::size_t last = profile.ranks.size() - 1;
  // best[p][i]: of p + 1 lines over the points [0, i].
  std::vector<std::vector<Polyline>> best(kPieces, std::vector<Polyline>(last + 1));
  for (std::size_t i = kLeastPoints - 1; i <= last; ++i) best[0][i] = {lines.deviation(0, i), {0, i}};
  for (std::size_t p = 1; p < kPieces; ++p) {
    for (std::size_t i = kLeastPoints - 1; i <= last; ++i) {
      const std::size_t least = i == last ? kLeastPoints - 1 : 1;
      for (std::size_t turn = kLeastPoints - 1; turn + least <= i; ++turn) {
        const double deviation = best[p - 1][turn].deviation + lines.deviation(turn, i);
        if (deviation >= best[p][i].deviation) continue;
        best[p][i] = {deviation, best[p - 1][turn].turns};
        best[p][i].turns.push_back(i);
      }
    }
  }
  std::vector<Polyline> fits;
  for (const auto& of_pieces : best) fits.push_back(of_pieces[last]);
  return fits;
}

/// Schwarz's criterion: a further line has to be worth its slope, height and turn.
const Polyline& best_of(const std::vector<Polyline>& fits, std::size_t points, double exact) {
  const auto cost = [&](const Polyline& fit) {
    const double pieces = double(fit.turns.size()) - 1, n = double(points);
    return n * std::log(fit.deviation / n + exact * exact) + (3 * pieces - 1) * std::log(n);
  };
  return *std::ranges::min_element(fits, {}, [&](const Polyline& fit) {
    return fit.turns.empty() ? std::numeric_limits<double>::infinity() : cost(fit);
  });
}

FrontPiece piece_of(const Profile& profile, std::size_t first, std::size_t last, double together) {
  const auto part = [&](const std::vector<double>& of) { return std::span(of).subspan(first, last - first + 1); };
  FrontPiece piece{Rank(profile.ranks[first]), Rank(profile.ranks[last]), {}};
  // Time over rank is fitted, not rank over time: the begin is what varies, and a vertical front must not become
  // infinitely fast by chance.
  const auto seconds_per_rank = fitted_slope(part(profile.ranks), part(profile.seconds));
  if (seconds_per_rank && std::abs(seconds_per_rank->value) * double(last - first + 1) > together)
    piece.ranks_per_s = inverse(seconds_per_rank);
  return piece;
}

/// Points per crest of the strongest Fourier component.
double wavelength_of(const Profile& profile) {
  const std::size_t points = profile.seconds.size();
  double strongest = 0, wavelength = double(points);
  for (std::size_t waves = 1; waves <= std::min(points / 2, kMostWaves); ++waves) {
    double re = 0, im = 0;
    for (std::size_t i = 0; i < points; ++i) {
      const double angle = 2 * std::numbers::pi * double(waves * i) / double(points);
      re += profile.seconds[i] * std::cos(angle), im += profile.seconds[i] * std::sin(angle);
    }
    // of equals the longest, whatever rounding says
    if (re * re + im * im <= strongest * (1 + 1e-9)) continue;
    strongest = re * re + im * im;
    wavelength = double(points) / double(waves);
  }
  return wavelength;
}

void fit_pieces(DomainFront& front, const Profile& profile, double step_seconds) {
  const Profile points = thinned(profile, kMostPoints);
  if (points.ranks.size() < kLeastPoints) return;
  const std::vector<Polyline> fits = best_fits(points);
  const Polyline& best = best_of(fits, points.ranks.size(), kExact * step_seconds);
  for (std::size_t i = 0; i + 1 < best.turns.size(); ++i)
    front.pieces.push_back(piece_of(points, best.turns[i], best.turns[i + 1], kTogether * step_seconds));
  double variance = 0;
  for (const double seconds : points.seconds) variance += seconds * seconds;
  if (variance > 0) front.fit = std::clamp(1 - best.deviation / variance, 0.0, 1.0);
}

DomainFront front_of(const Profile& profile, double step_seconds) {
  DomainFront front;
  const double amplitude = amplitude_of(profile), together = kTogether * step_seconds;
  front.amplitude = Nanoseconds(std::llround(amplitude * 1e9));
  if (amplitude <= together) return front;
  const FrontPiece all = piece_of(profile, 0, profile.ranks.size() - 1, together);
  if (all.ranks_per_s) front.ranks_per_s = all.ranks_per_s->value;
  fit_pieces(front, profile, step_seconds);
  front.wavelength = wavelength_of(profile);
  return front;
}

}  // namespace

std::optional<Wavefront> find_wavefront(const Timeline& timeline, Window window) {
  const std::vector<Rank> ranks = steps::heard_ranks(timeline);
  const Step step = steps::common_step(timeline, ranks, window.to);
  const auto spread = step == wire::kNoStep ? std::nullopt : steps::begin_spread(timeline, ranks, step, window.to);
  if (!spread) return std::nullopt;
  const std::vector<Step> steps = latest_steps(timeline, ranks, step, window.to);
  const double step_seconds = std::chrono::duration<double>(steps::typical_step_length(timeline, window.to)).count();
  Wavefront front{.step = step, .amplitude = *spread, .steps = int(steps.size())};
  const auto whole = profile_of(timeline, ranks, steps, window.to);
  if (whole && amplitude_of(*whole) > kTogether * step_seconds) front.wavelength = wavelength_of(*whole);
  for (const timeline::Domain& domain : timeline.domains()) {
    const auto profile = profile_of(timeline, domain.ranks, steps, window.to);
    front.domains.push_back(profile ? front_of(*profile, step_seconds) : DomainFront());
  }
  return front;
}

}  // namespace idlewave::analysis::domains
