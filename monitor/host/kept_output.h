#pragma once
// What a program prints while a screen has its terminal.

#include <sys/types.h>

#include <string>

#include "probe/wire/result.h"

namespace idlewave::host {

/// A file in the session's folder that stands for the terminal. One thread.
class KeptOutput {
 public:
  /// Error: the file can't be made, or there is no room for what will be printed.
  static wire::Result<KeptOutput> open(const std::string& session);
  KeptOutput(KeptOutput&& other) noexcept;
  KeptOutput& operator=(KeptOutput&&) = delete;
  ~KeptOutput();

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  /// Sets room aside ahead of what has been printed, as a write must not fail because others fill the disk. To be called
  /// now and then. An error is told once; what there is then is all.
  wire::Status make_room();
  /// Nobody is left to show it: a copy, SESSION.out, where one would look for it. Nothing if nothing was printed.
  void leave_copy(const std::string& session) const;

 private:
  KeptOutput(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
  off_t room_ = 0;  ///< Where it ends; -1: there is no more.
};

}  // namespace idlewave::host
