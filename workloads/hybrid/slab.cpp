#include "workloads/hybrid/slab.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace idlewave::hybrid {
namespace {

double angle(const Box& box, std::size_t side, int at) { return std::numbers::pi * (at + 1) / (box.size[side] + 1); }

/// lambda
double eigenvalue(const Box& box) {
  double sum = 0;
  for (std::size_t side = 0; side < 3; ++side) sum += std::cos(angle(box, side, 0));
  return sum / 3;
}

}  // namespace

Slab::Slab(const Box& box, int first, int planes)
    : box_(box),
      first_(first),
      planes_(planes),
      row_(box.size[2] + 2),
      plane_points_(std::size_t(row_) * std::size_t(box.size[1] + 2)),
      factor_(-1 / (6 * eigenvalue(box))),
      now_(plane_points_ * std::size_t(planes + 2)),
      next_(now_.size()) {
  for (int x = 0; x < planes; ++x)
    for (int y = 0; y < box.size[1]; ++y)
      for (int z = 0; z < box.size[2]; ++z)
        now_[offset(x) + std::size_t(y + 1) * std::size_t(row_) + std::size_t(z + 1)] = value(first + x, y, z);
  // What a neighbour has not sent is no wall.
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  if (first > 0) std::fill_n(plane(-1), plane_points_, nothing);
  if (first + planes < box.size[0]) std::fill_n(plane(planes), plane_points_, nothing);
}

double Slab::value(int x, int y, int z) const {
  return std::sin(angle(box_, 0, x)) * std::sin(angle(box_, 1, y)) * std::sin(angle(box_, 2, z));
}

void Slab::update(const Lines& lines) {
  const int of_plane = box_.lines_of_plane();
  for (int line = lines.begin; line < lines.end; ++line) {
    const std::size_t begin = offset(line / of_plane) + std::size_t(line % of_plane + 1) * std::size_t(row_) + 1;
    const double* u = now_.data() + begin;
    double* out = next_.data() + begin;
    const std::ptrdiff_t row = row_, plane = std::ptrdiff_t(plane_points_);
    for (int z = 0; z < box_.size[2]; ++z)
      out[z] = (u[z - 1] + u[z + 1] + u[z - row] + u[z + row] + u[z - plane] + u[z + plane]) * factor_;
  }
}

double Slab::error() const {
  double largest = 0;
  for (int x = 0; x < planes_; ++x) {
    for (int y = 0; y < box_.size[1]; ++y) {
      for (int z = 0; z < box_.size[2]; ++z) {
        const double found = now_[offset(x) + std::size_t(y + 1) * std::size_t(row_) + std::size_t(z + 1)];
        const double off = std::abs(found - sign_ * value(first_ + x, y, z));
        largest = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(largest, off);
      }
    }
  }
  return largest;
}

}  // namespace idlewave::hybrid
