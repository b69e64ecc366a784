#include "probe/wire/utf8.h"

namespace idlewave::wire {
namespace {

constexpr bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/// 0: none begins with it.
std::size_t length_of(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};

bool is_scalar(char32_t c) { return c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff); }

}  // namespace

std::optional<char32_t> take_longer_code_point(std::string_view& utf8) {
  const auto lead = static_cast<unsigned char>(utf8.front());
  const std::size_t length = length_of(lead);
  std::size_t read = 1;
  char32_t code = length == 0 ? 0 : lead & (0x7fu >> length);
  while (read < length && read < utf8.size() && is_continuation(static_cast<unsigned char>(utf8[read]))) {
    code = (code << 6) | (static_cast<unsigned char>(utf8[read++]) & 0x3fu);
  }
  utf8.remove_prefix(read);
  const bool complete = length != 0 && read == length && code >= kSmallest[length] && is_scalar(code);
  return complete ? std::optional(code) : std::nullopt;
}

void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace idlewave::wire
