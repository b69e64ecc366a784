#include "probe/arguments/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace idlewave::arguments {
namespace {

/// From this length on a beginning stands for the whole word.
constexpr std::size_t kTellingBeginning = 3;

/// Letters to insert, remove, replace or swap with their neighbour (optimal string alignment, R. A. Wagner and M. J.
/// Fischer 1974, with swaps).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

/// What has no distance that lets it be meant is as far as can be.
std::size_t how_far(std::string_view typed, std::string_view candidate) {
  if (typed.size() >= kTellingBeginning && candidate.starts_with(typed)) return 0;
  const std::size_t letters = distance(typed, candidate);
  return letters <= std::max<std::size_t>(1, candidate.size() / 3) && letters < typed.size() ? letters : SIZE_MAX;
}

}  // namespace

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates) {
  std::size_t nearest = SIZE_MAX;
  std::string meant;
  for (const std::string& candidate : candidates) {
    const std::size_t letters = how_far(typed, candidate);
    if (letters < nearest) meant = candidate;
    nearest = std::min(nearest, letters);
  }
  return meant.empty() ? "" : " (did you mean '" + meant + "'?)";
}

std::string no_such_flag(std::string_view program, std::string_view flag, const std::vector<std::string>& known) {
  return fmt::format("{} has no flag {}{}", program, flag, did_you_mean(flag, known));
}

}  // namespace idlewave::arguments
