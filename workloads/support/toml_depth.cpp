#include "workloads/support/toml_depth.h"

#include <algorithm>

namespace idlewave::support {
namespace {

/// Walks over the text outside of strings and comments. Where the text is malformed, so that no string ends where this
/// one believes, the parser stops at that place.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::optional<int> find_deep_key() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '"' || c == '\'') {
        skip_string(c);
      } else if (c == '#') {
        skip(std::min(rest_.find('\n'), rest_.size()));
      } else {
        if (c == '.' && ++dots_ >= kMostKeyParts) return line_;
        if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots_ = 0;
        skip(1);
      }
    }
    return std::nullopt;
  }

 private:
  void skip(std::size_t bytes) {
    line_ += int(std::ranges::count(rest_.substr(0, bytes), '\n'));
    rest_.remove_prefix(bytes);
  }

  void skip_string(char quote) {
    const std::string_view three = quote == '"' ? R"(""")" : "'''";
    if (!rest_.starts_with(three)) return skip(end_of_string(quote, 1, std::string_view(&quote, 1)));
    skip(end_of_string(quote, 3, three));
    for (int more = 0; more < 2 && rest_.starts_with(quote); ++more) skip(1);  // """a""""" ends with two of its own
  }

  /// Behind `closing`, or at the end of the line for a string of one line.
  std::size_t end_of_string(char quote, std::size_t from, std::string_view closing) const {
    for (std::size_t at = from; at < rest_.size(); ++at) {
      if (rest_[at] == '\\' && quote == '"')
        ++at;
      else if (rest_[at] == '\n' && closing.size() == 1)
        return at;
      else if (rest_.substr(at).starts_with(closing))
        return at + closing.size();
    }
    return rest_.size();
  }

  std::string_view rest_;
  int line_ = 1;
  int dots_ = 0;
};

}  // namespace

std::optional<int> line_of_deep_key(std::string_view toml) { return Scanner(toml).find_deep_key(); }

}  // namespace idlewave::support
