#pragma once
// Heat in a square plate: u' = u + 1/5 (left + right + below + above - 4 u). Its walls are kept as warm as they are high, so
// what it comes to is u = y, as in the heat example of Rabenseifner's lecture (rabenseifner-2007). It begins with half a
// wave along each side on top of that, an eigenvector of a step, so each point has a value that it must have. Pure.

#include <cstddef>
#include <cstdint>

namespace idlewave::heat {

/// Points in rows from wall to wall; row 0, column 0 and the last ones are walls.
struct Square {
  int points = 0;  ///< Inside, along each side.

  std::size_t width() const { return std::size_t(points) + 2; }
  std::size_t size() const { return width() * width(); }
};

/// What a wave keeps in a step.
double decay(const Square& square);

/// A row with both its walls, after so many steps.
void set_row(const Square& square, int row, std::int64_t step, double* out);

/// From a row and those on either side of it to that of the next step. Walls are left as they are.
void update_row(const Square& square, const double* below, const double* row, const double* above, double* out);

/// By how much a point of a row is off at most; infinity where one is no number. 0 to 1 is what temperatures are.
double error_of_row(const Square& square, int row, std::int64_t step, const double* found);

}  // namespace idlewave::heat
