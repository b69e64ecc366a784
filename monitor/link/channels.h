#pragma once
// The connections that a tunnel carries, each between a socket of this node and the other end.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "monitor/link/trunk.h"

namespace idlewave::link {

/// At one time, in a tunnel. A node has one agent; others look whether somebody is there.
inline constexpr std::size_t kMostChannels = 64;
/// Bytes of a channel and direction that are on their way at most, and so what a slow one may take of our memory.
inline constexpr std::uint32_t kWindow = 256u << 10;

/// One thread; never waits.
class Channels {
 public:
  Channels(Trunk& trunk, Watch& watch) : trunk_(trunk), watch_(watch) {}
  ~Channels() { close_all(); }
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  /// Takes over `socket`, which does not block; -1: nobody is there, and the other end is told so. False: there are too
  /// many, or one of that number.
  bool add(std::uint32_t number, int socket);
  /// What the other end says of a channel. False: that can't be said now.
  bool hear(const TunnelFrame& frame);
  /// Hands on what came, and reads what the other end has room for.
  void serve();
  void close_all();

  std::size_t size() const { return channels_.size(); }

 private:
  struct Channel {
    int socket = -1;
    std::vector<std::byte> coming;  ///< For the socket, from written on.
    std::size_t written = 0;
    std::uint32_t room = kWindow;  ///< Of the other end.
    std::uint32_t untold = 0;      ///< Bytes that came, and were not given back as room.
    std::uint32_t taken = 0;       ///< Of those, by the socket.
    bool said_close = false, heard_close = false;
  };
  void deliver(Channel& channel);
  static void forget_written(Channel& channel);
  void collect(std::uint32_t number, Channel& channel);
  void tell(std::uint32_t number, Channel& channel);
  void shut(Channel& channel);
  void watch(const Channel& channel);

  Trunk& trunk_;
  Watch& watch_;
  std::map<std::uint32_t, Channel> channels_;
};

}  // namespace idlewave::link
