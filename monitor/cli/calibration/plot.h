#pragma once
// b(n) as a picture of characters. Pure.

#include <string>
#include <vector>

namespace idlewave::cli::calibration {

struct PlottedCurve {
  std::string name;
  std::vector<double> bandwidths;  ///< b(1), b(2), ...; bytes/s.
  int saturation_point = 0;        ///< N_sc: marked on the curve, and by a line down to the axis.
};

struct PlotSize {
  int columns = 80;
  int rows = 16;
  bool unicode = false;  ///< Else ASCII.
};

/// Lines of at most size.columns cells, size.rows of them; more cores than columns share them. The axes begin at 0.
std::string plot(const std::vector<PlottedCurve>& curves, const PlotSize& size);

}  // namespace idlewave::cli::calibration
