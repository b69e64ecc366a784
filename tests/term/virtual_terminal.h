#pragma once
// A terminal in memory (libvterm), to ask what a person would see after some bytes.

#include <array>
#include <string_view>

#include "monitor/view/paint/canvas.h"

struct VTerm;
struct VTermScreen;

namespace idlewave::term {

/// What stands in one cell. Colours are indices, -1 the terminal's own.
struct SeenCell {
  char32_t glyph = U' ';
  int fg = -1;
  int bg = -1;
  bool bold = false;
  bool underline = false;
  bool reverse = false;
  friend bool operator==(const SeenCell&, const SeenCell&) = default;
};

class VirtualTerminal {
 public:
  explicit VirtualTerminal(view::paint::Size size);
  VirtualTerminal(const VirtualTerminal&) = delete;
  VirtualTerminal& operator=(const VirtualTerminal&) = delete;
  ~VirtualTerminal();

  void feed(std::string_view bytes);
  SeenCell at(int x, int y) const;

 private:
  VTerm* terminal_;
  VTermScreen* screen_;
};

}  // namespace idlewave::term
