#include "workloads/sparse/poisson.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "workloads/sparse/hash.h"

namespace idlewave::sparse {
namespace {

/// Of the grid, with its boundary: column 0 and line 0 are outside the unknowns.
struct Point {
  Index column = 0;
  Index line = 0;
  bool operator==(const Point&) const = default;
};

struct Place {
  double x = 0;
  double y = 0;
};

Place operator-(const Place& a, const Place& b) { return {a.x - b.x, a.y - b.y}; }
double dot(const Place& a, const Place& b) { return a.x * b.x + a.y * b.y; }
double cross(const Place& a, const Place& b) { return a.x * b.y - a.y * b.x; }

using Triangle = std::array<Point, 3>;

class Mesh {
 public:
  Mesh(Index columns, Index lines) : columns_(columns), lines_(lines) {}

  void append_row(Index row, std::vector<Entry>& out) const {
    const Point own{row % columns_ + 1, row / columns_ + 1};
    Stencil stencil{};
    for (const Index line : {own.line - 1, own.line})
      for (const Index column : {own.column - 1, own.column})
        for (const Triangle& triangle : triangles_of({column, line})) add(triangle, own, stencil);
    append(stencil, own, out);
  }

 private:
  /// Of a point and the eight around it, in the order of their numbers.
  struct Weight {
    bool there = false;
    double value = 0;
  };
  using Stencil = std::array<Weight, 9>;

  static std::uint64_t key(const Point& point) { return hash(std::uint64_t(point.column), std::uint64_t(point.line)); }

  static Place place_of(const Point& point) {
    constexpr double kMost = 0.2;  // below a quarter no triangle turns over
    const auto moved = [&](std::uint64_t direction) { return kMost * (2 * unit(hash(key(point), direction)) - 1); };
    return {double(point.column) + moved(1), double(point.line) + moved(2)};
  }

  /// The two of a cell, which is named by its lowest corner.
  static std::array<Triangle, 2> triangles_of(const Point& cell) {
    const Point right{cell.column + 1, cell.line}, above{cell.column, cell.line + 1},
        across{cell.column + 1, cell.line + 1};
    if (hash(key(cell), 3) % 2 == 0) return {{{cell, right, across}, {cell, across, above}}};
    return {{{cell, right, above}, {right, across, above}}};
  }

  /// What a triangle adds to a row: the product of its edges opposite to both points, over four times its area.
  static void add(const Triangle& triangle, const Point& own, Stencil& stencil) {
    const auto edge = [&](std::size_t opposite) {
      return place_of(triangle[(opposite + 2) % 3]) - place_of(triangle[(opposite + 1) % 3]);
    };
    for (std::size_t a = 0; a < 3; ++a) {
      if (triangle[a] != own) continue;
      const double twice_area = std::abs(cross(edge(0), edge(1)));
      for (std::size_t b = 0; b < 3; ++b) {
        const Index offset = 3 * (triangle[b].line - own.line + 1) + triangle[b].column - own.column + 1;
        Weight& weight = stencil[std::size_t(offset)];
        weight = {true, weight.value + dot(edge(a), edge(b)) / (2 * twice_area)};
      }
    }
  }

  void append(const Stencil& stencil, const Point& own, std::vector<Entry>& out) const {
    for (Index offset = 0; offset < 9; ++offset) {
      const Point other{own.column + offset % 3 - 1, own.line + offset / 3 - 1};
      const bool inside = other.column >= 1 && other.column <= columns_ && other.line >= 1 && other.line <= lines_;
      const Weight& weight = stencil[std::size_t(offset)];
      if (weight.there && inside) out.push_back({(other.line - 1) * columns_ + other.column - 1, weight.value});
    }
  }

  Index columns_;
  Index lines_;
};

}  // namespace

Matrix poisson(Index rows) {
  const auto columns = static_cast<Index>(std::sqrt(double(rows)));
  const Mesh mesh{columns, rows / columns};
  return {rows / columns * columns, true, [mesh](Index row, std::vector<Entry>& out) { mesh.append_row(row, out); }};
}

}  // namespace idlewave::sparse
