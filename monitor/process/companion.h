#pragma once
// A child that outlives us when we go: in a session of its own, so that nothing that happens to our terminal reaches
// it. The two talk in short messages until either is gone.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "probe/wire/result.h"

namespace idlewave::process {

/// One end of a conversation in messages; each arrives whole, in order. One thread.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&& other) noexcept;
  ~Channel();

  /// Never blocks. False when the other end is gone, or has not listened for very long.
  bool say(const std::string& message);
  /// The next message, if there is one now.
  std::optional<std::string> hear();
  /// The other end has gone and everything that it said was heard.
  bool is_over() const { return over_; }
  int fd() const { return fd_; }  ///< Readable when there is something to hear, or the other end has gone.

 private:
  int fd_ = -1;
  bool over_ = false;
};

struct Companion {
  pid_t pid = 0;
  Channel channel;
};

/// Forks; the child leads a session of its own, is called `name` in ps, and ends with what `body` returned. It keeps
/// our standard streams until it lets go of them. Call it before there are threads.
wire::Result<Companion> start_companion(const char* name, const std::function<int(Channel&)>& body);

}  // namespace idlewave::process
