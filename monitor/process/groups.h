#pragma once
// Process groups that must not outlive the monitor, in memory that its guard shares.

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

namespace idlewave::process {

/// Lives in memory shared between guard and monitor, so that it survives the sudden end of either. Lock-free, any
/// thread.
class GroupTable {
 public:
  bool add(pid_t group);  ///< False when the table is full.
  void remove(pid_t group);
  std::vector<pid_t> all() const;

 private:
  static constexpr std::size_t kMost = 64;
  std::array<std::atomic<pid_t>, kMost> groups_{};
};
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// Makes the table that this process and its later children share; before there are threads. Null if there is no
/// memory.
GroupTable* share_group_table();

/// Says that the group is to be ended when this process is gone; until forget_group(). Without a guard both do nothing.
void remember_group(pid_t group);
void forget_group(pid_t group);

/// True while the process, or the group if `target` is negative (as in kill(2)), is there; a zombie that nobody
/// collected counts.
bool lives(pid_t target);

/// Waits until none of them lives; false if some still do after `patience`. For `collect` see end_all().
bool gone_within(std::chrono::milliseconds patience, const std::vector<pid_t>& targets,
                 const std::function<void()>& collect);

/// SIGTERM to targets as in kill(2), SIGKILL to those that still live after `patience`; returns when none lives any
/// more, at the latest a second after that. `collect` is called in between: it has to wait for those that are children
/// of this process.
void end_all(const std::vector<pid_t>& targets, std::chrono::milliseconds patience,
             const std::function<void()>& collect);

}  // namespace idlewave::process
