#pragma once
// The threads of a rank that work together in each step.

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace idlewave::ring {

/// Whoever makes it is the first of them. The others sleep while there is nothing to do.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return static_cast<int>(others_.size()) + 1; }

  /// work(number) on each, from 0 on; returns when all have done it.
  void run(const std::function<void(int)>& work);

 private:
  std::barrier<> begin_, end_;
  const std::function<void(int)>* work_ = nullptr;  ///< Null: the team breaks up.
  std::vector<std::thread> others_;
};

}  // namespace idlewave::ring
