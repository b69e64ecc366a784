#pragma once
// What somebody who mistyped a word may have meant.

#include <string>
#include <string_view>
#include <vector>

namespace idlewave::arguments {

/// " (did you mean 'demo'?)" for the candidate that is closest to `typed`, if one is close enough to be meant; else
/// empty.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates);

/// "sim has no flag --jsno (did you mean '--json'?)", of those that there are.
std::string no_such_flag(std::string_view program, std::string_view flag, const std::vector<std::string>& known);

}  // namespace idlewave::arguments
