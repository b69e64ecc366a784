#include "probe/agent/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace idlewave::agent {

namespace {

/// Memory that is cut short under a program ends it by a signal.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Addresses that the agent needs beside: threads for connections, frames, what is known of the machine.
constexpr std::size_t kForTheRest = 96 << 20;

bool leaves_room() {
  void* const rest = mmap(nullptr, kForTheRest, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return rest != MAP_FAILED && munmap(rest, kForTheRest) == 0;
}

wire::Error no_memory(std::size_t bytes, int error) {
  const bool no_descriptor = error == EMFILE || error == ENFILE;
  const char* const limit = no_descriptor ? "-n" : error == EFBIG ? "-f" : "-v";
  return {"no shared memory of " + std::to_string(bytes >> 20) + " MB (" + std::strerror(error) +
          "); raise the limit (ulimit " + limit + ")"};
}

}  // namespace

wire::Result<std::unique_ptr<Segment>> Segment::make_as_large_as_fits(std::uint32_t most_slots,
                                                                      std::uint32_t ring_events,
                                                                      const shm::Clock& clock) {
  for (std::uint32_t slots = most_slots;; slots /= 2) {
    auto segment = make(slots, ring_events, clock);
    if (segment && leaves_room()) return segment;
    if (segment && slots == 1) return no_memory(shm::segment_bytes(1, ring_events) + kForTheRest, ENOMEM);
    if (slots == 1) return segment;
  }
}

wire::Result<std::unique_ptr<Segment>> Segment::make(std::uint32_t slots, std::uint32_t ring_events,
                                                     const shm::Clock& clock) {
  const std::size_t bytes = shm::segment_bytes(slots, ring_events);
  const int fd = memfd_create("idlewave", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, off_t(bytes)) == 0 && fcntl(fd, F_ADD_SEALS, kSeals) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    if (fd >= 0) close(fd);
    return no_memory(bytes, error);
  }
  auto* header = new (memory) shm::Header;
  header->version = shm::kLayoutVersion;
  header->slots = slots;
  header->ring_events = ring_events;
  header->clock = clock;
  header->magic = shm::kMagic;
  return std::unique_ptr<Segment>(new Segment(fd, memory, slots, ring_events, clock));
}

wire::Result<std::unique_ptr<Segment>> Segment::take(int fd) {
  struct stat status {};
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(fd, &status) != 0 || status.st_size < off_t(sizeof(shm::Header)))
    return wire::Error{"this is no memory of an agent"};
  const auto size = std::size_t(status.st_size);
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return no_memory(size, errno);
  const auto& header = *static_cast<const shm::Header*>(memory);
  const std::uint32_t slots = header.slots, ring_events = header.ring_events;
  if (header.magic == shm::kMagic && header.version == shm::kLayoutVersion && shm::can_hold(size, slots, ring_events))
    return std::unique_ptr<Segment>(new Segment(fd, memory, slots, ring_events, header.clock));
  munmap(memory, size);
  return wire::Error{"this is memory of another version of idlewave"};
}

Segment::~Segment() {
  munmap(memory_, shm::segment_bytes(slots_, ring_events_));
  close(fd_);
}

}  // namespace idlewave::agent
