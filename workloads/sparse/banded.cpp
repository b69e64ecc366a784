#include "workloads/sparse/banded.h"

#include <algorithm>

#include "workloads/sparse/hash.h"

namespace idlewave::sparse {
namespace {

constexpr Index kUnknowns = 5;
constexpr Index kReach = 60;
constexpr double kPerRow = 123;
constexpr double kCoupled = (kPerRow / kUnknowns - 1) / (2 * kReach);

std::uint64_t pair(Index a, Index b) { return hash(std::uint64_t(std::min(a, b)), std::uint64_t(std::max(a, b))); }

bool coupled(Index point, Index other) { return point == other || unit(pair(point, other)) < kCoupled; }

double value_of(Index row, Index column) { return row == column ? kPerRow : 2 * unit(hash(pair(row, column))) - 1; }

}  // namespace

Matrix banded(Index rows) {
  return {rows, true, [rows](Index row, std::vector<Entry>& out) {
            const Index point = row / kUnknowns, last = std::min(point + kReach, (rows - 1) / kUnknowns);
            for (Index other = std::max<Index>(point - kReach, 0); other <= last; ++other) {
              if (!coupled(point, other)) continue;
              const Index end = std::min((other + 1) * kUnknowns, rows);
              for (Index column = other * kUnknowns; column < end; ++column)
                out.push_back({column, value_of(row, column)});
            }
          }};
}

}  // namespace idlewave::sparse
