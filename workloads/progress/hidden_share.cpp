#include "workloads/progress/hidden_share.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace idlewave::progress {
namespace {

/// The h that suits a T_comm best, and how far the trials are from it.
struct Candidate {
  Line line;
  double distance = std::numeric_limits<double>::infinity();
};

/// A trial asks for the share at which the line meets it, with the weight that h has there.
struct Wish {
  double hidden;
  double weight;
};

double weighted_median(std::vector<Wish>& wishes) {
  std::ranges::sort(wishes, {}, &Wish::hidden);
  double all = 0;
  for (const Wish& wish : wishes) all += wish.weight;
  double below = 0;
  for (const Wish& wish : wishes) {
    below += wish.weight;
    if (2 * below >= all) return wish.hidden;
  }
  return 0;
}

/// Distances are sums of |T_total - line|, so with T_comm given the best h is a weighted median.
Candidate best_with(double communication, std::span<const Trial> trials, std::vector<Wish>& wishes) {
  wishes.clear();
  for (const Trial& trial : trials) {
    const double can_hide = std::min(trial.work, communication);
    if (can_hide > 0) wishes.push_back({(trial.work + communication - trial.total) / can_hide, can_hide});
  }
  const Line line{communication, wishes.empty() ? 0 : std::clamp(weighted_median(wishes), 0.0, 1.0)};
  double distance = 0;
  for (const Trial& trial : trials) distance += std::abs(trial.total - line.total_at(trial.work));
  return {line, distance};
}

/// What lasts beyond the work is at most T_comm, and without work all of it.
double longest_beyond_work(std::span<const Trial> trials) {
  double longest = 0;
  for (const Trial& trial : trials) longest = std::max(longest, trial.total - trial.work);
  return longest;
}

/// The best of `count` lines whose T_comm are in equal ratios, and then of as many closely around that one.
Line fit_between(double least, double most, int count, std::span<const Trial> trials) {
  constexpr int kRounds = 2;
  std::vector<Wish> wishes;
  Candidate best;
  for (int round = 0; round < kRounds; ++round) {
    const double ratio = std::pow(most / least, 1.0 / (count - 1));
    double communication = least;
    for (int i = 0; i < count; ++i, communication *= ratio) {
      const Candidate next = best_with(communication, trials, wishes);
      if (next.distance < best.distance) best = next;
    }
    least = best.line.communication / ratio;
    most = best.line.communication * ratio;
  }
  return best.line;
}

/// One trial for each that there is, of any of them: as likely a measurement as the one that was made.
void draw_again(std::span<const Trial> trials, std::mt19937_64& random, std::vector<Trial>& drawn) {
  drawn.clear();
  for (std::size_t i = 0; i < trials.size(); ++i) drawn.push_back(trials[random() % trials.size()]);
}

Verdict verdict_of(double least, double most) {
  constexpr double kThird = 1.0 / 3;
  if (least > 2 * kThird) return Verdict::kByItself;
  if (most < kThird) return Verdict::kInCalls;
  return most - least <= kThird ? Verdict::kPartly : Verdict::kCantBeTold;
}

}  // namespace

double Line::total_at(double work) const { return work + communication - hidden * std::min(work, communication); }

Line fit(std::span<const Trial> trials) {
  assert(!trials.empty());
  // One trial may have been held up a thousandfold.
  constexpr double kSpan = 1e6;
  const double longest = longest_beyond_work(trials);
  return fit_between(longest / kSpan, longest, 60, trials);
}

Finding judge(std::span<const Trial> trials) {
  constexpr std::size_t kDrawn = 100;
  constexpr std::size_t kBeyond = kDrawn / 20;  // at either end
  constexpr double kNear = 10;                  // T_comm of trials drawn again is seldom another by half
  const Line line = fit(trials);
  std::mt19937_64 random{1};
  std::vector<Trial> drawn;
  std::array<double, kDrawn> hidden{};
  for (double& share : hidden) {
    draw_again(trials, random, drawn);
    share = fit_between(line.communication / kNear, line.communication * kNear, 20, drawn).hidden;
  }
  std::ranges::sort(hidden);
  Finding finding{.line = line, .least_hidden = hidden[kBeyond], .most_hidden = hidden[kDrawn - 1 - kBeyond]};
  finding.verdict = verdict_of(finding.least_hidden, finding.most_hidden);
  return finding;
}

std::string_view in_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kByItself: return "progresses by itself";
    case Verdict::kInCalls: return "progresses only inside MPI calls";
    case Verdict::kPartly: return "progresses partly by itself";
    case Verdict::kCantBeTold: break;
  }
  return "can't be told: the times scatter too much";
}

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kByItself: return "by itself";
    case Verdict::kInCalls: return "inside MPI calls";
    case Verdict::kPartly: return "partly";
    case Verdict::kCantBeTold: break;
  }
  return "can't be told";
}

}  // namespace idlewave::progress
