#pragma once
// Which characters the user's locale can show.

namespace idlewave::term {

/// Sets the locale of characters (LC_CTYPE) to the user's. Over ssh a wish for UTF-8 often arrives in a language that is
/// not installed here; the characters do not depend on the language.
bool locale_speaks_unicode();

}  // namespace idlewave::term
