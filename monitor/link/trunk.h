#pragma once
// The two descriptors of a tunnel: frames in both directions, none of which waits.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/link/greeting.h"
#include "monitor/link/tunnel_frame.h"

namespace idlewave::link {

/// Descriptors that poll as one, each for what is wanted of it now. One thread.
class Watch {
 public:
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// EPOLLIN, EPOLLOUT; 0: nothing, also not that its other end has gone. Before a descriptor is closed. False: it can't
  /// be waited for, as a file.
  bool set(int fd, std::uint32_t events);
  int fd() const { return fd_; }

 private:
  int fd_;
  std::map<int, std::uint32_t> wanted_;
};

/// One thread. The descriptors stay their owner's, and must not block; SIGPIPE has to be ignored.
class Trunk {
 public:
  Trunk(int in, int out, Watch& watch) : in_(in), out_(out), watch_(watch) {}
  ~Trunk() { let_go(); }
  Trunk(const Trunk&) = delete;
  Trunk& operator=(const Trunk&) = delete;

  void greet(const std::string& line);
  /// Reads what is there, up to a bound, and writes what there is to write, as far as it goes.
  void serve();
  /// The fields of the greeting, once it has come; to be asked until then, and before take().
  std::optional<std::vector<std::string>> take_greeting(const GreetingKind& kind);
  /// The next frame that has come. Its body lasts until the next serve().
  std::optional<TunnelFrame> take();
  /// What has come and was not taken.
  std::string_view rest() const;
  void put(TunnelKind kind, std::uint32_t channel = 0, std::span<const std::byte> body = {});
  void flush();

  /// Nothing is on its way: what is put now goes before anything else.
  bool is_idle() const { return going_.empty(); }
  /// Why nothing passes any more, in words that go on behind a name; empty: it may.
  const std::string& cut() const { return cut_; }
  void cut(const std::string& why);
  void let_go();                                 ///< Of the descriptors.
  bool has_ended() const { return has_ended_; }  ///< Cut, since the other end has gone.

 private:
  void end(const std::string& why);
  void read();

  int in_, out_;
  Watch& watch_;
  std::vector<std::byte> coming_;  ///< From taken_ on.
  std::size_t taken_ = 0;
  std::vector<std::byte> going_;  ///< From written_ on.
  std::size_t written_ = 0;
  std::string cut_;
  bool has_ended_ = false;
};

}  // namespace idlewave::link
