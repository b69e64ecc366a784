#pragma once
// What a program does in MPI: by function, and by pairs of ranks. Sums of the whole run so far, as its ranks have told
// them; undefined is nothing, never 0.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::session {

/// One function, over all ranks. Sums of time are seconds in double, as many ranks' nanoseconds may not fit 64 bits.
struct FunctionUse {
  std::string name;
  std::uint64_t ranks = 0;  ///< That have called it.
  std::uint64_t calls = 0;
  double time_s = 0;  ///< Inside; what orders held ranks there is left out.
  double share = 0;   ///< Of the time in all functions; 0 where that is 0.
  timeline::Nanoseconds longest{};
  timeline::Rank longest_rank = 0;
  std::uint64_t unsized = 0;           ///< Calls whose arguments don't tell how much they have MPI carry.
  std::optional<std::uint64_t> bytes;  ///< Of the other calls; nothing if there are none.

  double mean_s() const { return calls == 0 ? 0 : time_s / double(calls); }
};

/// The one that took most time first; of those that took as long, by name.
std::vector<FunctionUse> functions_by_time(const timeline::Timeline& timeline);

struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// What lies between two ranks, of what is known of where they are.
enum class Crossing : std::uint8_t { kNothing, kDomains, kNodes, kUnknown };

/// Null-terminated: "none", "domains", "nodes", "unknown".
const char* to_words(Crossing crossing);

struct PairUse {
  timeline::Rank from = 0;
  timeline::Rank to = 0;
  Traffic traffic;
  Crossing crosses = Crossing::kUnknown;
};

/// Messages that ranks have sent to each other, point to point, as their senders count them.
struct Matrix {
  std::vector<PairUse> pairs;  ///< Most bytes first; as many: by rank.
  Traffic all;                 ///< Those to receivers that were not told apart included.
  Traffic across_domains;      ///< Of one node.
  Traffic across_nodes;
  Traffic unplaced;  ///< Between ranks of which it is not known where they are.
  Traffic others;    ///< To receivers that were not told apart.
  /// Functions that were called and send what no pair counts: those that are one-sided.
  std::vector<std::string> not_counted;
  bool threads_may_send = false;  ///< Beside the one that a rank is shown by; then no pair counts it.
};

/// Nothing if no rank has told of MPI calls.
std::optional<Matrix> find_matrix(const timeline::Timeline& timeline);

/// What a screen says of it.
struct MpiUse {
  std::vector<FunctionUse> functions;
  Matrix matrix;
  std::uint64_t ranks = 0;  ///< That have told.
  bool is_cut = false;      ///< Some are left out: there was no room for their sums.
};

/// For whoever asks again and again. Looks at what is new every other second of the session, and when it has ended. Owned
/// by one thread.
class MpiUseFinder {
 public:
  /// Null before any rank has told of calls. What was handed out does not change.
  std::shared_ptr<const MpiUse> observe(const timeline::Timeline& timeline);

 private:
  std::shared_ptr<const MpiUse> found_;
  std::uint64_t told_ = 0;  ///< When it was found.
  timeline::Nanoseconds next_{};
};

/// Between two ranks: their contention domains, and the nodes of these.
Crossing crossing_of(const timeline::Timeline& timeline, timeline::Rank from, timeline::Rank to);

}  // namespace idlewave::analysis::session
