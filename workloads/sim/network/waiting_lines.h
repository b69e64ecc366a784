#pragma once
// Events that wait for the same processor or interface, in line.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "workloads/sim/network/event_heap.h"
#include "workloads/sim/network/network_event.h"

namespace idlewave::sim::network {

/// Of those that stand in one line none can go before the one with the least number, so only that one needs to come
/// when what they wait for is free: by an event of the line, which has its number. Without lines all of them would come,
/// each time, and all but one would go back. Their owner says by a key which events wait for the same. All but the look
/// for a line: O(log of those in it).
class WaitingLines {
 public:
  /// Whatever is `first_what` or more in NetworkEvent::what is a line.
  explicit WaitingLines(std::uint32_t first_what) : first_what_(first_what) {}

  bool is_line(std::uint32_t what) const { return what >= first_what_; }

  /// `event` waits until `time`, from now on in the line of `key`. What has to come then: the line, if it is new; the
  /// event itself, if the line comes too late for it; nothing, if that comes in time. Its time is that of `event`.
  std::optional<NetworkEvent> join(std::uint64_t key, const NetworkEvent& event, std::int64_t time) {
    const auto [found, is_new] = numbers_.try_emplace(key, 0);
    if (is_new && !take_number(found->second)) return numbers_.erase(found), event;
    Line& line = lines_[found->second];
    if (!is_new && event.number < line.number && time <= line.time) return event;
    if (is_new) line.key = key;
    line.waiting.push({0, event.number, event.what});
    if (!is_new) return {};
    return next(first_what_ + found->second, event.time, time);
  }

  /// Who goes first; its time is 0.
  const NetworkEvent& first(std::uint32_t what) const { return line_of(what).waiting.first(); }

  /// The event of the line, now, which will come at `time`.
  NetworkEvent next(std::uint32_t what, std::int64_t now, std::int64_t time) {
    Line& line = line_of(what);
    line.time = time;
    line.number = line.waiting.first().number;
    return {now, line.number, what};
  }

  /// The line comes at another time than was thought.
  void move(std::uint32_t what, std::int64_t time) { line_of(what).time = time; }

  /// The first leaves the line. Whether others are left; else the line is no more.
  bool take_first(std::uint32_t what) {
    Line& line = line_of(what);
    line.waiting.pop();
    if (!line.waiting.empty()) return true;
    numbers_.erase(line.key);
    free_.push_back(what - first_what_);
    return false;
  }

 private:
  struct Line {
    EventHeap waiting;  ///< At time 0: by number.
    std::uint64_t key = 0;
    std::int64_t time = 0;  ///< When its event comes, and by which number.
    std::uint32_t number = 0;
  };

  Line& line_of(std::uint32_t what) { return lines_[what - first_what_]; }
  const Line& line_of(std::uint32_t what) const { return lines_[what - first_what_]; }

  /// False: there are no more.
  bool take_number(std::uint32_t& number) {
    if (!free_.empty()) {
      number = free_.back();
      free_.pop_back();
      return true;
    }
    if (lines_.size() > ~first_what_) return false;
    number = std::uint32_t(lines_.size());
    lines_.emplace_back();
    return true;
  }

  std::uint32_t first_what_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  ///< Of the lines that are not empty, by key.
};

}  // namespace idlewave::sim::network
