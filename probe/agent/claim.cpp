#include "probe/agent/claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "probe/session/directory.h"
#include "probe/session/files.h"
#include "probe/session/sweep.h"

namespace idlewave::agent {

namespace {

constexpr int kTries = 3;
constexpr int kLockPatience = 6000;    // ms; longer than a starter takes
constexpr int kShortPatience = 500;    // for somebody who has kept it for long already, or as long as we live
constexpr int kFolderPatience = 5000;  // ms; as long as a rank waits for an agent

void close_if_open(int& fd) {
  if (fd >= 0) close(std::exchange(fd, -1));
}

bool is_same_file(int fd, const std::string& path) {
  struct stat held {};
  struct stat found {};
  return fstat(fd, &held) == 0 && stat(path.c_str(), &found) == 0 && held.st_ino == found.st_ino &&
         held.st_dev == found.st_dev;
}

/// Frees it for every process that has a copy of it, which close() would not.
void unlock(int& fd) {
  if (fd < 0) return;
  flock(fd, LOCK_UN);
  close_if_open(fd);
}

/// Not session::lock_session, which would make a folder that is gone.
int patient_lock(const std::string& session, int patience_ms) {
  for (int waited = 0;; ++waited) {
    const int lock = session::try_lock_session(session.c_str());
    if (lock >= 0 || lock == session::kNoFolder || waited >= patience_ms) return lock;
    usleep(1000);
  }
}

bool has_agent(const std::string& session) {
  session::AgentRecord record;
  return session::read_agent_record(session.c_str(), record) && session::is_alive(record);
}

/// Whoever has it is an agent once ranks can find it: it may fail before that, or be about to end.
bool get_folder(int fd, const std::string& session) {
  for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; ++waited) {
    if (has_agent(session) || waited >= kFolderPatience) return false;
    usleep(1000);
  }
  return true;
}

}  // namespace

wire::Result<std::unique_ptr<Claim>> Claim::take(const std::string& session) {
  char folder[session::kSessionPathLimit];
  if (!session::session_path(session.c_str(), folder)) {
    return wire::Error{"session name \"" + session + "\": 1 to " + std::to_string(session::kSessionNameLimit) +
                       " letters, digits, '-', '_' or '.', not beginning with '.'; or IDLEWAVE_DIR is too long"};
  }
  session::sweep_dead_sessions(session.c_str());
  // More than one try, since a folder may be swept away between its making and its locking.
  for (int i = 0; i < kTries; ++i) {
    if (!session::make_session_directory(session.c_str())) break;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) continue;
    if (!get_folder(fd, session)) {
      close(fd);
      return std::unique_ptr<Claim>();
    }
    const int start_lock = session::lock_session(session.c_str(), 0);
    if (is_same_file(fd, folder)) return std::unique_ptr<Claim>(new Claim(session, folder, fd, start_lock));
    close(fd);
    if (start_lock >= 0) close(start_lock);
  }
  return wire::Error{
      std::string(folder) +
      " can't be made, or belongs to another user or can be written by others; remove it or set IDLEWAVE_DIR"};
}

std::string Claim::default_endpoint() {
  socket_ = folder_ + "/agent.sock";
  if (session::somebody_listens(socket_.c_str())) socket_ = folder_ + "/agent." + std::to_string(getpid()) + ".sock";
  return "ipc://" + socket_;
}

wire::Status Claim::publish(const std::string& endpoint, int memory_fd, pid_t pid) {
  record_.pid = pid;
  record_.start = session::process_start_time(record_.pid);
  record_.memory_fd = memory_fd;
  if (endpoint.size() >= sizeof record_.endpoint) return wire::Error{"endpoint " + endpoint + " is too long"};
  std::memcpy(record_.endpoint, endpoint.c_str(), endpoint.size() + 1);
  const bool written = session::write_agent_record(session_.c_str(), record_);
  const std::string why = std::strerror(errno);
  if (written) patience_ms_ = kLockPatience;
  unlock(start_lock_);
  return written ? wire::ok() : wire::Status(wire::Error{"can't write to " + folder_ + ": " + why});
}

bool Claim::retire(shm::Header& header, const std::function<bool()>& somebody_is_in, bool insist) {
  int lock = session::try_lock_session(session_.c_str());
  if (lock < 0 && lock != session::kNoFolder) {
    if (!insist) return false;
    patience_ms_ = kShortPatience;
  }
  header.open.store(0);
  const bool empty = !somebody_is_in();
  if (empty) {
    session::remove_agent_record(session_.c_str(), record_);
    unlock(folder_fd_);
  } else {
    header.open.store(1);
  }
  close_if_open(lock);
  return empty;
}

Claim::~Claim() {
  if (forgotten_) return;
  unlock(start_lock_);
  // An agent that failed to start has a starter that holds the lock and waits for us.
  int lock = patient_lock(session_, patience_ms_);
  session::remove_agent_record(session_.c_str(), record_);
  // ZeroMQ leaves its sockets behind. The next agent may have taken the name already.
  if (!socket_.empty() && !session::somebody_listens(socket_.c_str())) unlink(socket_.c_str());
  unlock(folder_fd_);
  // The lock goes only with the folder, and the folder only when nothing else is in it: a monitor's socket may be, or
  // another agent's. Whoever waits for a lock that was removed notices that and takes the new one.
  if (lock >= 0) session::remove_session_directory_if_empty(session_.c_str());
  close_if_open(lock);
}

void Claim::log(const std::string& line) const {
  if (std::FILE* file = std::fopen((folder_ + "/agent.log").c_str(), "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

}  // namespace idlewave::agent
