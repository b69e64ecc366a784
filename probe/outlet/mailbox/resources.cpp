#include "probe/outlet/mailbox/resources.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <future>
#include <system_error>
#include <thread>

namespace idlewave::mailbox {
namespace {

constexpr std::size_t kDescriptors = 32;  // A context and its threads hold 6, each of up to 6 sockets 1 or 2, a gate 3.
constexpr std::size_t kThreads = 4;       // Two of libzmq's, the one that admits, and the gate's.

wire::Status check_descriptors() {
  std::array<int, kDescriptors> taken;
  taken.fill(-1);
  int error_number = 0;
  for (int& descriptor : taken) {
    descriptor = eventfd(0, EFD_CLOEXEC);
    if (descriptor >= 0) continue;
    error_number = errno;
    break;
  }
  for (const int descriptor : taken)
    if (descriptor >= 0) close(descriptor);
  if (error_number == 0) return wire::ok();
  return wire::Error{"no descriptors are left for connections: " + std::generic_category().message(error_number) +
                     "; raise the limit (ulimit -n), " + std::to_string(kDescriptors) + " more are needed"};
}

bool can_map(std::size_t bytes, int protection) {
  void* const memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

/// Of all that keep threads from being started. Stacks take addresses, and where they are written to they are data.
std::string limit_of_threads() {
  pthread_attr_t attributes;
  std::size_t stack = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return "-u";
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_destroy(&attributes);
  if (!can_map(kThreads * stack, PROT_NONE)) return "-v";
  return can_map(kThreads * stack, PROT_READ | PROT_WRITE) ? "-u" : "-d";
}

wire::Status check_threads() {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::array<std::thread, kThreads> threads;
  wire::Status status = wire::ok();
  try {
    // All at once: they are needed at once.
    for (std::thread& thread : threads) thread = std::thread([ended] { ended.wait(); });
  } catch (const std::system_error& error) {
    status = wire::Error{std::string("no threads can be started for connections: ") + error.code().message() +
                         "; raise the limit (ulimit " + limit_of_threads() + "), or end other programs"};
  }
  end.set_value();
  for (std::thread& thread : threads)
    if (thread.joinable()) thread.join();
  return status;
}

}  // namespace

wire::Status check_resources() {
  if (auto enough = check_descriptors(); !enough) return enough;
  return check_threads();
}

}  // namespace idlewave::mailbox
