#pragma once
// What a rank can't show, for the monitor to say.

#include <stdlib.h>

#include "probe/session/trouble_log.h"

namespace idlewave::mpi {

/// Null: it is not set, or empty.
inline const char* text_of(const char* variable) {
  const char* text = getenv(variable);
  return text != nullptr && text[0] != '\0' ? text : nullptr;
}

[[gnu::cold]] inline void note(const char* line) {
  const char* session = text_of("IDLEWAVE_SESSION");
  if (session != nullptr) session::note_trouble(session, line);
}

}  // namespace idlewave::mpi
