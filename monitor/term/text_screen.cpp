#include "monitor/term/text_screen.h"

namespace idlewave::term {

/// The device does not translate a line feed. Lines begin with one, so that a picture as high as the terminal fits.
std::string TextScreen::draw(const view::paint::Canvas& canvas) {
  const std::chrono::nanoseconds now = clock_();
  if (next_ && now < *next_) return "";
  std::string picture = to_text(canvas);
  if (picture == shown_) return "";
  next_ = now + kTextPeriod;
  shown_ = std::move(picture);
  std::string bytes = "\r\n";
  for (const char c : std::string_view(shown_).substr(0, shown_.size() - 1))
    bytes += c == '\n' ? "\r\n" : std::string(1, c);
  return bytes;
}

}  // namespace idlewave::term
