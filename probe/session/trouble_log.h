#pragma once
// trouble.log of a session's folder (directory.h).

namespace idlewave::session {

/// Added to the log's path: a symbolic link whose target is a line of who had no descriptor left to write to the log.
inline constexpr const char* kTroubleLink = "~";

/// Appends a line to the session's trouble.log, with node and process number before it, for whoever looks after the
/// session: what could not be done, where, and what to do. Over tcp it goes to trouble.NODE where the session's keys lie
/// (IDLEWAVE_KEY), which its host sees from another node. The same is said once. Does nothing where that can't be
/// written, or holds too much already.
void note_trouble(const char* session, const char* line);

}  // namespace idlewave::session
