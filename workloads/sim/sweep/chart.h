#pragma once
// Curves as text, for terminals of 80 columns.

#include <optional>
#include <string>
#include <vector>

namespace idlewave::sim::sweep {

struct Curve {
  std::string name;
  std::vector<std::optional<double>> values;  ///< One for each place on the axis; none: not measured.
};

struct Chart {
  std::string title;
  std::string x_name;
  std::vector<std::string> x_labels;  ///< Of the places, which stand side by side whatever they say.
  std::string y_name;
  std::vector<Curve> curves;  ///< Their marks are a, b, c, ..., side by side at each place, as far as there is room.
};

/// Lines that end with a line feed. The y axis begins at the least value, or at 1 where all are above.
std::string draw(const Chart& chart);

}  // namespace idlewave::sim::sweep
