#pragma once
// Where the parts of a session find each other on one node: /tmp/idlewave-<uid>/<session>/ (IDLEWAVE_DIR replaces the
// first part), mode 0700.
//   lock         flock'ed by whoever starts or ends the agent of this session
//   place        link to the name of the node (node_name.h), its boot and its table of processes (with how far their
//                beginnings are moved, in a time namespace): what the numbers below refer to. Where the first part is
//                shared with other nodes, or with containers, the folder belongs to the place that made it, and others
//                use <session>.<8 digits of theirs>; nobody else's folder is ever removed, but on the same machine (a
//                container's), where the locks below tell that nobody lives there any more
//   owner        flock'ed, shared, by whoever made the session or wants its folder to stay, such as a monitor
//   monitor      flock'ed by the monitor that the ranks report to
//   agent        text, one "key value" line each: pid, start (of that process, see process_start_time), memory (file
//                descriptor number of the shared segment inside that process), endpoint (where the agent listens)
//   agent.sock   the agent's ZeroMQ ipc socket        monitor.sock   the monitor's, or what leads to it from another node
//   start.sock   where a rank asks the host of `run` for an agent (monitor/host/agent_starter.h)
//   trouble.log  one line for each thing that ranks and agents of this node could not do, for the monitor to show
// What a killed process held is let go by the kernel, so that a folder which nobody lives in can be told at once.
// The shared segment is a memfd that ranks open through /proc/<pid>/fd/<memory>: it has no name, so it is gone when its
// last user is, whatever killed them. C library only, no exceptions, no allocation after return: this is linked into
// users' programs.

namespace idlewave::session {

inline constexpr int kSessionNameLimit = 48;  ///< Letters, digits, '-', '_', '.'; not starting with '.'.
/// Whole path of the folder with its NUL; leaves room for a socket name in 108 bytes.
inline constexpr int kSessionPathLimit = 96;
inline constexpr int kSessionFileLimit = kSessionPathLimit + 32;  ///< The same for a file in it.

/// Stands for an endpoint: monitor.sock of the session's folder, on whatever node it is read.
inline constexpr const char* kAtHand = "at-hand";

bool valid_session_name(const char* name);

/// Writes "<root>/<session>" to `out`, or this place's own folder if that one belongs to another place. False if the
/// name is not valid or the path too long.
bool session_path(const char* session, char (&out)[kSessionPathLimit]);

/// Makes the session's folder (and the root) if missing. False if it can't be made, or either is no folder, belongs to
/// another user or can be written by others.
bool make_session_directory(const char* session);

/// Makes the folder if missing and takes its lock; gives up after `patience_ms`. Returns a descriptor whose close()
/// frees the lock, or -1, and errno says why: EWOULDBLOCK where somebody else had it all the time; what is not to be had at
/// all, as where nothing may be written, is not waited for.
int lock_session(const char* session, int patience_ms);

/// The same, but makes no folder and does not wait. kNoFolder if there is none, or one that is not to be trusted.
int try_lock_session(const char* session);
inline constexpr int kNoFolder = -2;

/// Makes the folder if missing and lets it stay until the descriptor that is returned is closed, or its process is
/// gone. -1 if the folder can't be made. For whoever starts a session: before anything else is put into the folder.
int hold_session(const char* session);

/// The one monitor that ranks of a held session report to. Until the descriptor that is returned is closed nobody else
/// gets the place: -1.
int take_monitors_place(const char* session);

/// Writes the path of a file in the session's folder to `out`. False as session_path has it.
bool session_file(const char* session, const char* name, char (&out)[kSessionFileLimit]);

/// Calls visit(session) for each folder of this user and place that is named as a session may be.
void for_each_session(void (*visit)(const char* session, void* context), void* context);
template <class Visit>
void for_each_session(Visit visit) {
  for_each_session([](const char* session, void* context) { (*static_cast<Visit*>(context))(session); }, &visit);
}

/// The same with the path of each folder that other tables of processes on this machine have, whatever it is called.
void for_each_folder_beside(void (*visit)(const char* folder, void* context), void* context);
template <class Visit>
void for_each_folder_beside(Visit visit) {
  for_each_folder_beside([](const char* folder, void* context) { (*static_cast<Visit*>(context))(folder); }, &visit);
}

}  // namespace idlewave::session
