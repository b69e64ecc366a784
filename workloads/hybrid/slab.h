#pragma once
// Jacobi's iteration in a box whose walls are kept at 0: u' = - mean of the six neighbours of u / lambda. sin(a x) sin(b y)
// sin(c z) with one half wave along each side is an eigenvector of the mean, of its largest eigenvalue lambda. So each
// point has a value that it must have, which neither dies away nor is that of the step before.

#include <array>
#include <cstddef>
#include <vector>

namespace idlewave::hybrid {

/// Points inside the walls along x, y and z, at least two; z runs fastest.
struct Box {
  std::array<int, 3> size{48, 32, 32};

  int lines_of_plane() const { return size[1]; }
  std::size_t points_of_plane() const { return std::size_t(size[1]) * std::size_t(size[2]); }
};

/// Lines [begin, end) of a slab, of which each plane has lines_of_plane().
struct Lines {
  int begin = 0;
  int end = 0;
};

/// Planes [first, first + planes) of a box, and one plane of others on either side.
class Slab {
 public:
  Slab(const Box& box, int first, int planes);

  int planes() const { return planes_; }
  int lines() const { return planes_ * box_.lines_of_plane(); }

  /// Plane -1 and plane planes() are those of others.
  double* plane(int number) { return now_.data() + offset(number); }

  /// Of the next step, from this one. Threads may share the lines out.
  void update(const Lines& lines);
  void go_on() { now_.swap(next_), sign_ = -sign_; }

  /// By how much a point is off at most; the largest is about 1. A value that is no number is off by infinity.
  double error() const;

 private:
  std::size_t offset(int plane) const { return std::size_t(plane + 1) * plane_points_; }
  double value(int x, int y, int z) const;

  Box box_;
  int first_;
  int planes_;
  int row_;                   ///< Points of a line with both walls.
  std::size_t plane_points_;  ///< Of a plane with its walls.
  double factor_;             ///< Of the sum of six neighbours.
  std::vector<double> now_, next_;
  double sign_ = 1;  ///< Of this step.
};

}  // namespace idlewave::hybrid
