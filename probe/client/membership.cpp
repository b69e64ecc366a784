#include "probe/client/membership.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "probe/client/agent_start.h"
#include "probe/client/deadline.h"
#include "probe/client/libc_parts.h"
#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/trouble_log.h"

namespace idlewave::client {
namespace {

constexpr std::int64_t kPatienceMs = 5000;
/// An agent that does not open in this time is taken for one that ends.
constexpr std::int64_t kClosedPatienceMs = 500;

bool find_agent(const char* session, session::AgentRecord& agent) {
  return session::read_agent_record(session, agent) && session::is_alive(agent);
}

/// For whoever looks after the session: a rank says nothing itself, since its output is the program's.
bool fail(const Settings& settings, const char* why) {
  char line[kReasonLimit + 64];
  snprintf(line, sizeof line, "a rank is not watched: %s", why);
  session::note_trouble(settings.session, line);
  return false;
}

bool wait_for_agent(const Settings& settings, const Deadline& deadline, session::AgentRecord& agent) {
  while (!find_agent(settings.session, agent)) {
    if (!deadline.wait_a_little()) return fail(settings, "the agent that was started has not appeared within 5 s");
  }
  return true;
}

/// Starts an agent unless somebody else just did, while holding the lock, and waits for its record.
bool start_agent_locked(const Settings& settings, const Deadline& deadline, session::AgentRecord& agent) {
  if (find_agent(settings.session, agent)) return true;
  char why[kReasonLimit] = "no memory is left to start an agent";
  if (!start_agent(settings, deadline, why)) return fail(settings, why);
  return wait_for_agent(settings, deadline, agent);
}

/// Where the lock is not to be had, since the rank may not write to the folder or lock anything: the host may. Several
/// ranks may ask it; of the agents that it starts then one stays, who has the folder for itself.
bool start_agent_unlocked(const Settings& settings, const Deadline& deadline, int error, session::AgentRecord& agent) {
  if (have_host_start_agent(settings, deadline) == Request::kDone) return wait_for_agent(settings, deadline, agent);
  char why[kReasonLimit];
  snprintf(why, sizeof why, "the session's folder can't be locked: %s", description_of(error));
  return fail(settings, why);
}

/// One rank of the node starts the agent, the others wait for its record.
bool find_or_start_agent(const Settings& settings, const Deadline& deadline, session::AgentRecord& agent) {
  do {
    if (find_agent(settings.session, agent)) return true;
    const int lock = session::lock_session(settings.session, 0);
    const int error = errno;
    if (lock < 0 && error == EWOULDBLOCK) continue;
    if (lock < 0) return start_agent_unlocked(settings, deadline, error, agent);
    const bool found = start_agent_locked(settings, deadline, agent);
    close(lock);
    return found;
  } while (deadline.wait_a_little());
  return fail(settings, "nobody has started an agent within 5 s, and the session's lock is not free");
}

/// Makes room for a new agent. Without the lock the record stays, and the next try finds it again.
void drop_record(const char* session, const session::AgentRecord& agent) {
  const int lock = session::lock_session(session, static_cast<int>(kClosedPatienceMs));
  if (lock < 0) return;
  session::remove_agent_record(session, agent);
  close(lock);
}

int open_memory(const session::AgentRecord& agent) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", agent.pid, agent.memory_fd);
  return open(path, O_RDWR | O_CLOEXEC);
}

/// A segment that could be cut short would end the host by a signal.
bool keeps_its_size(int memory_fd) {
  const int seals = fcntl(memory_fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

/// The words of the command line with blanks between them, cut where the room ends.
template <std::size_t size>
void read_command_line(char (&out)[size]) {
  out[0] = '\0';
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, out, size - 1);
  close(file);
  while (length > 0 && out[length - 1] == '\0') --length;
  for (ssize_t i = 0; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if (byte < 0x20 || byte == 0x7f) out[i] = ' ';
  }
  out[length > 0 ? length : 0] = '\0';
}

}  // namespace

/// Not in core files of the host.
bool Membership::Part::map(int fd, std::size_t offset, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = offset % page;
  void* memory =
      mmap(nullptr, before + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset - before));
  if (memory == MAP_FAILED) return false;
  madvise(memory, before + bytes, MADV_DONTDUMP);
  memory_ = memory;
  bytes_ = before + bytes;
  at_ = static_cast<std::byte*>(memory) + before;
  return true;
}

void Membership::Part::unmap() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
  memory_ = at_ = nullptr;
}

bool Membership::join(const Settings& settings, wire::Rank rank, wire::Rank world_size) {
  const Deadline deadline(kPatienceMs);
  if (!session::make_session_directory(settings.session)) return false;
  if (!session::sees_processes())
    return fail(settings,
                "/proc, where it would find its agent, is not there or shows other process numbers than its own");
  for (int attempt = 0; attempt < 2; ++attempt) {
    session::AgentRecord agent;
    if (!find_or_start_agent(settings, deadline, agent)) return false;
    const Answer answer = knock(agent, rank, world_size);
    if (answer == Answer::kJoined) return true;
    if (answer == Answer::kRefused) return fail(settings, refusal_);
    drop_record(settings.session, agent);
  }
  return fail(settings, "the agent was ending each time");
}

/// Tries while a living agent keeps its door closed: it may be about to open.
Membership::Answer Membership::knock(const session::AgentRecord& agent, wire::Rank rank, wire::Rank world_size) {
  const Deadline deadline(kClosedPatienceMs);
  do {
    const int memory = open_memory(agent);
    refusal_ = "the agent's memory can't be opened or mapped";
    if (memory < 0) return session::is_alive(agent) ? Answer::kRefused : Answer::kClosed;
    const Answer answer = enter(memory, rank, world_size);
    close(memory);
    if (answer != Answer::kClosed) return answer;
  } while (session::is_alive(agent) && deadline.wait_a_little());
  return Answer::kClosed;
}

Membership::Answer Membership::enter(int memory_fd, wire::Rank rank, wire::Rank world_size) {
  if (!map_header(memory_fd)) return Answer::kRefused;
  Answer answer = Answer::kClosed;
  if (header().open.load() == 1) answer = claim_slot(memory_fd) ? Answer::kJoined : Answer::kRefused;
  if (answer == Answer::kJoined && header().open.load() != 1) {
    slot().state.store(shm::SlotState::kFree);
    answer = Answer::kClosed;
  }
  if (answer != Answer::kJoined) {
    unmap();
    return answer;
  }
  // What follows takes a while, and whoever dies in it must not be waited for.
  std::atomic_ref(slot().pid).store(getpid(), std::memory_order_relaxed);
  slot().process_start = session::process_start_time(getpid());
  touch_ring();
  map_thread_rings(memory_fd);
  fill_slot(rank, world_size);
  return answer;
}

bool Membership::map_header(int memory_fd) {
  struct stat status;
  if (!keeps_its_size(memory_fd) || fstat(memory_fd, &status) != 0 ||
      status.st_size < static_cast<off_t>(sizeof(shm::Header)) || !header_.map(memory_fd, 0, sizeof(shm::Header)))
    return false;
  slots_ = header().slots;
  ring_events_ = header().ring_events;
  const bool is_ours = header().magic == shm::kMagic && header().version == shm::kLayoutVersion &&
                       shm::can_hold(static_cast<std::size_t>(status.st_size), slots_, ring_events_);
  if (is_ours && traces_.map(memory_fd, shm::traces_offset(), sizeof(shm::TraceRoom))) return true;
  if (!is_ours)
    refusal_ =
        "the agent is of another version of idlewave; IDLEWAVE_AGENT can name one of the ranks' version, where it is "
        "set "
        "for them behind 'idlewave run', which names its own";
  unmap();
  return false;
}

void Membership::unmap() {
  for (Part* part : {&header_, &traces_, &slot_, &ring_, &thread_rings_}) part->unmap();
}

/// The first that is free. Its ring comes along, or the slot is given back.
bool Membership::claim_slot(int memory_fd) {
  for (std::uint32_t i = 0; i < slots_; ++i) {
    if (!slot_.map(memory_fd, shm::slot_offset(i), sizeof(shm::Slot))) return false;
    shm::SlotState free = shm::SlotState::kFree;
    if (!slot().state.compare_exchange_strong(free, shm::SlotState::kClaimed)) {
      slot_.unmap();
      continue;
    }
    index_ = i;
    if (ring_.map(memory_fd, shm::ring_offset(slots_, ring_events_, i), shm::ring_stride(ring_events_))) return true;
    slot().state.store(shm::SlotState::kFree);
    return false;
  }
  refusal_ = "the agent has no slot left for it (--slots)";
  return false;
}

/// So that no event meets a page fault.
void Membership::touch_ring() {
  auto* bytes = reinterpret_cast<volatile std::byte*>(ring());
  for (std::size_t i = 0; i < shm::ring_stride(ring_events_); i += shm::kPage) bytes[i] = std::byte{0};
}

/// Now, since a thread may not be able to when it comes. They take addresses alone until then; where there are none to
/// spare, threads are not seen.
void Membership::map_thread_rings(int memory_fd) {
  thread_rings_.map(memory_fd, shm::thread_rings_offset(slots_, ring_events_, index_),
                    shm::thread_rings_stride(ring_events_));
}

void Membership::fill_slot(wire::Rank rank, wire::Rank world_size) {
  shm::Slot& slot = this->slot();
  slot.processor = sched_getcpu();
  slot.rank = rank;
  slot.world_size = world_size;
  slot.domain.store(wire::kNoDomain, std::memory_order_relaxed);
  slot.domain_virtual.store(0, std::memory_order_relaxed);
  slot.core_bandwidth.store(0, std::memory_order_relaxed);
  slot.saturated_bandwidth.store(0, std::memory_order_relaxed);
  slot.curve_points.store(0, std::memory_order_relaxed);
  slot.step_source.store(static_cast<std::uint32_t>(wire::StepSource::kProgram), std::memory_order_relaxed);
  slot.domain_bytes.store(0, std::memory_order_relaxed);
  slot.domain_bytes_at.store(0, std::memory_order_relaxed);
  slot.held_ns.store(0, std::memory_order_relaxed);
  slot.step.store(wire::kNoStep, std::memory_order_relaxed);
  for (shm::UserPhase& phase : slot.user_phases) phase = {};
  slot.partners.followed.store(0, std::memory_order_relaxed);
  for (shm::PartnerBook::Pattern& pattern : slot.partners.patterns) pattern = {};
  for (shm::PartnerBook::Cycle& cycle : slot.partners.cycles) cycle = {};
  slot.thread_places.store(0, std::memory_order_relaxed);
  for (shm::ThreadPlace& place : slot.threads) new (&place) shm::ThreadPlace;
  // Also so that no call meets a page fault.
  new (&slot.calls) shm::CallBook;
  read_command_line(slot.command_line);
  slot.revision.fetch_add(1, std::memory_order_release);
  slot.state.store(shm::SlotState::kLive, std::memory_order_release);
}

void Membership::leave(bool is_kept) {
  slot().state.store(shm::SlotState::kStopped, std::memory_order_release);
  if (!is_kept) unmap();
}

}  // namespace idlewave::client
