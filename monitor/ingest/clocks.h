#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/ingest/clock_fit.h"
#include "probe/wire/frame.h"

namespace idlewave::ingest {

/// What is known of the clocks of a session's nodes, from what they tell, in the order in which they told it. Session time
/// runs like the clock of the monitor that nodes ask for the time. It is set by the first round trip of the node that came
/// first, such that this node's clock is not off and time 0 stays where it was. Where another monitor takes over, it is
/// set anew, such that the clock of the first node that has asked this monitor goes on as before. One thread; memory for a
/// few hundred samples a node.
class Clocks {
 public:
  /// What else is known of a node's clock, as long as it has not compared it: how far it is ahead by the wall clock.
  void guess(const std::string& node, Nanoseconds offset) {
    if (first_.empty()) first_ = node;
    nodes_[node].told.knots = {{{}, offset}};
  }
  /// What is known of the node's clock now, if that is something else than what was returned before, by more than an eighth of
  /// how far that may be off: a moment of the session should not be another one with every sample.
  std::optional<timeline::ClockCurve> take(const std::string& node, std::span<const wire::RoundTrip> trips);
  /// Nothing follows from this node: the same, however little it is.
  std::optional<timeline::ClockCurve> settle(const std::string& node);

 private:
  struct Node {
    std::vector<wire::RoundTrip> heard;  ///< Not looked at yet.
    Nanoseconds begin{};                 ///< Of the first interval.
    std::vector<ClockSample> samples;    ///< The shortest trip of each interval, ascending.
    Nanoseconds interval = std::chrono::seconds(1);
    timeline::ClockCurve told;
  };

  bool look_at_heard(Node& node);
  bool knows(const Node& node, const wire::RoundTrip& trip);
  std::optional<ClockSample> sample_of(const wire::RoundTrip& trip) const;
  static bool keep(Node& node, const ClockSample& sample);
  static std::optional<timeline::ClockCurve> news(Node& node, Nanoseconds worth_telling);

  std::map<std::string, Node> nodes_;
  std::string first_;                           ///< Node that came first.
  std::size_t without_it_ = 0;                  ///< Trips of others, as long as that has told none.
  std::map<std::uint32_t, Nanoseconds> ahead_;  ///< How far the clocks that were asked for are ahead of the session's.
};

}  // namespace idlewave::ingest
