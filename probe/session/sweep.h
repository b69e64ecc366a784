#pragma once
// How the folders of sessions (directory.h) go, whatever their processes were killed by.

namespace idlewave::session {

/// Removes the folders of all sessions of this user that nobody lives in, except `keep` (may be null): owner and lock
/// free, no living agent, nobody listening at a socket. A folder in which none of them has been yet is spared for a
/// minute. Costs a few system calls a folder: whatever makes a session calls it first.
void sweep_dead_sessions(const char* keep);

/// Removes one session's folder unless somebody holds it. Hold the lock.
void remove_session_directory(const char* session);

/// The same if nobody has put anything into it but locks and what an agent had to complain of: whoever might have read
/// that has gone.
void remove_session_directory_if_empty(const char* session);

}  // namespace idlewave::session
