#include "probe/outlet/mailbox/resources.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
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

bool has_little_address_space() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
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
    status =
        wire::Error{std::string("no threads can be started for connections: ") + error.code().message() +
                    "; raise the limit (ulimit " + (has_little_address_space() ? "-u, or -v for their stacks" : "-u") +
                    "), or end other programs"};
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
