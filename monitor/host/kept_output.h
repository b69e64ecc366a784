#pragma once
// What a program prints while a screen has its terminal.

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

#include "probe/wire/result.h"

namespace idlewave::host {

/// A file in the session's folder that stands for the terminal. Of much the oldest goes first. One thread.
class KeptOutput {
 public:
  /// Error: the file can't be made, or there is no room for what will be printed.
  static wire::Result<KeptOutput> open(const std::string& session);
  KeptOutput(KeptOutput&& other) noexcept;
  KeptOutput& operator=(KeptOutput&&) = delete;
  ~KeptOutput();

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  /// Sets room aside ahead of what has been printed, as a write must not fail because others fill the disk, nor because
  /// the program does. To be called now and then. An error is told once; what there is then is all.
  wire::Status make_room();
  /// Since the look before the latest one much has been printed: the next is due soon.
  bool grows_fast() const { return grown_ > (1 << 18); }
  /// Nobody is left to show it: a copy, SESSION.out, where one would look for it. Nothing if nothing was printed.
  void leave_copy(const std::string& session) const;

 private:
  bool drop_up_to(off_t end);
  bool copy_to(const std::string& path) const;
  KeptOutput(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
  off_t room_ = 0;     ///< Where it ends; -1: there is no more.
  off_t dropped_ = 0;  ///< Up to there.
  off_t seen_ = 0, grown_ = 0;
};

/// Where what is still kept begins, and all of it in pieces, until one is not taken; false: one was not.
off_t first_kept(int fd);
bool read_kept(int fd, const std::function<bool(std::string_view)>& take);

}  // namespace idlewave::host
