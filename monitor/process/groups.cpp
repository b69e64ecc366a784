#include "monitor/process/groups.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <thread>

namespace idlewave::process {
namespace {

using namespace std::chrono_literals;

constexpr auto kLook = 10ms;            ///< Between two looks at whether a group is gone.
constexpr auto kKilledIsGone = 1000ms;  ///< SIGKILL takes that long only in a broken kernel call.

GroupTable* shared_table = nullptr;

bool any_lives(const std::vector<pid_t>& targets) { return std::any_of(targets.begin(), targets.end(), lives); }

void signal_all(const std::vector<pid_t>& targets, int signal) {
  for (const pid_t target : targets) ::kill(target, signal);
}

}  // namespace

bool GroupTable::add(pid_t group) {
  return std::any_of(groups_.begin(), groups_.end(), [&](std::atomic<pid_t>& place) {
    pid_t empty = 0;
    return place.compare_exchange_strong(empty, group);
  });
}

void GroupTable::remove(pid_t group) {
  for (std::atomic<pid_t>& place : groups_) {
    pid_t expected = group;
    place.compare_exchange_strong(expected, 0);
  }
}

std::vector<pid_t> GroupTable::all() const {
  std::vector<pid_t> groups;
  for (const std::atomic<pid_t>& place : groups_)
    if (const pid_t group = place.load(); group != 0) groups.push_back(group);
  return groups;
}

GroupTable* share_group_table() {
  void* memory = ::mmap(nullptr, sizeof(GroupTable), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return shared_table = memory == MAP_FAILED ? nullptr : new (memory) GroupTable;
}

void remember_group(pid_t group) {
  if (shared_table != nullptr) shared_table->add(group);
}

void forget_group(pid_t group) {
  if (shared_table != nullptr) shared_table->remove(group);
}

bool lives(pid_t target) { return ::kill(target, 0) == 0 || errno == EPERM; }

bool gone_within(std::chrono::milliseconds patience, const std::vector<pid_t>& targets,
                 const std::function<void()>& collect) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    collect();
    if (!any_lives(targets)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kLook);
  }
}

void end_all(const std::vector<pid_t>& targets, std::chrono::milliseconds patience,
             const std::function<void()>& collect) {
  if (gone_within(0ms, targets, collect)) return;
  signal_all(targets, SIGTERM);
  signal_all(targets, SIGCONT);  // one that was stopped would never see the first
  if (gone_within(patience, targets, collect)) return;
  signal_all(targets, SIGKILL);
  gone_within(kKilledIsGone, targets, collect);
}

}  // namespace idlewave::process
