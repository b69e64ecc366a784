#pragma once
// A folder of its own for each test, and a loop that gives up.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/remove_folder.h"

namespace idlewave {

class Scratch {
 public:
  Scratch() : path_(mkdtemp(std::string("/tmp/idlewave-test-XXXXXX").data())) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { remove_folder(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string ipc(const std::string& name) const { return "ipc://" + file(name); }

 private:
  std::string path_;
};

/// Runs `step` until `done`; false if that takes so long that something hangs.
template <class Step, class Done>
bool run_until(Step step, Done done) {
  const auto guard = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    if (std::chrono::steady_clock::now() > guard) return false;
    step();
  }
  return true;
}

}  // namespace idlewave
