#include "workloads/ring/thread_team.h"

namespace idlewave::ring {

ThreadTeam::ThreadTeam(int threads) : begin_(threads), end_(threads) {
  for (int number = 1; number < threads; ++number)
    others_.emplace_back([this, number] {
      for (begin_.arrive_and_wait(); work_; begin_.arrive_and_wait()) {
        (*work_)(number);
        end_.arrive_and_wait();
      }
    });
}

ThreadTeam::~ThreadTeam() {
  work_ = nullptr;
  begin_.arrive_and_wait();
  for (std::thread& other : others_) other.join();
}

void ThreadTeam::run(const std::function<void(int)>& work) {
  work_ = &work;
  begin_.arrive_and_wait();
  work(0);
  end_.arrive_and_wait();
}

}  // namespace idlewave::ring
