#pragma once
// Bytes from a terminal to keys: UTF-8, the sequences of ECMA-48 terminals (cursor and editing keys), mouse reports in
// SGR form. Pure. What is not understood is swallowed whole, so that the tail of a strange function key never becomes a
// command.

#include <string>
#include <string_view>
#include <vector>

#include "monitor/view/key.h"

namespace idlewave::term {

class InputDecoder {
 public:
  std::vector<view::Key> feed(std::string_view bytes);
  /// True while a key has begun that more bytes may change: an Escape alone, or a sequence that came in two parts.
  bool undecided() const { return !pending_.empty(); }
  /// No more bytes came in time: an Escape was the Escape key.
  std::vector<view::Key> settle();

 private:
  std::string pending_;
};

}  // namespace idlewave::term
