#pragma once

#include <vector>

#include "probe/wire/frame.h"

namespace idlewave::outlet {

/// The noise that an operator has ordered and that ends when that operator goes.
class GivenNoise {
 public:
  /// The operator orders this now.
  void note(const wire::Command& command);
  /// What ends it, a command for each that is not known to be over.
  std::vector<wire::Command> take_endings();

 private:
  std::vector<wire::Command> standing_;
};

}  // namespace idlewave::outlet
