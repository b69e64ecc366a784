#include "probe/agent/segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace idlewave::agent {

wire::Result<std::unique_ptr<Segment>> Segment::make(std::uint32_t slots, std::uint32_t ring_events,
                                                     const shm::Clock& clock) {
  const std::size_t bytes = shm::segment_bytes(slots, ring_events);
  const int fd = memfd_create("idlewave", MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, off_t(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    return wire::Error{"no shared memory of " + std::to_string(bytes >> 20) + " MB (" + why +
                       "); ask for fewer --slots or --ring-events"};
  }
  auto* header = new (memory) shm::Header;
  header->version = shm::kLayoutVersion;
  header->slots = slots;
  header->ring_events = ring_events;
  header->agent_pid = getpid();
  header->clock = clock;
  header->magic = shm::kMagic;
  return std::unique_ptr<Segment>(new Segment(fd, memory, bytes));
}

Segment::~Segment() {
  munmap(memory_, bytes_);
  close(fd_);
}

}  // namespace idlewave::agent
