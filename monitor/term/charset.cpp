#include "monitor/term/charset.h"

#include <langinfo.h>

#include <clocale>
#include <cstdlib>
#include <string>
#include <string_view>

namespace idlewave::term {
namespace {

bool codeset_is_utf8() { return std::string_view(::nl_langinfo(CODESET)) == "UTF-8"; }

const char* wanted_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return "C";
}

}  // namespace

bool locale_speaks_unicode() {
  std::setlocale(LC_CTYPE, "");
  if (codeset_is_utf8()) return true;
  const std::string wish = wanted_locale();
  const bool wants_utf8 =
      wish.find("UTF-8") != wish.npos || wish.find("utf8") != wish.npos || wish.find("utf-8") != wish.npos;
  return wants_utf8 && std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr && codeset_is_utf8();
}

}  // namespace idlewave::term
