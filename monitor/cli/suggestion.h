#pragma once
// What somebody who mistyped a word may have meant.

#include <string>
#include <string_view>
#include <vector>

namespace idlewave::cli {

/// " (did you mean 'demo'?)" for the candidate that is closest to `typed`, if one is close enough to be meant; else
/// empty.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

}  // namespace idlewave::cli
