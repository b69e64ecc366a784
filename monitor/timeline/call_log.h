#pragma once

#include <cstdint>
#include <map>

#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// What each rank has done in MPI, by function and by receiver: the latest sums that its node has told, over all
/// processes that were this rank one after the other. Where there is no room for receivers, they count among the
/// others; where there is none for functions, the rank is left out.
class CallLog {
 public:
  explicit CallLog(std::uint64_t budget_bytes) : budget_(budget_bytes) {}

  /// `calls.rank` was announced; receivers from `ranks` on, which nobody has, count among the others.
  void set(wire::RankCalls calls, wire::Rank ranks);

  bool empty() const { return ranks_.empty(); }
  /// By rank; pid is that of the latest process.
  const std::map<wire::Rank, wire::RankCalls>& all() const { return ranks_; }
  /// Null: it has made no call, as far as was told.
  const wire::RankCalls* of(wire::Rank rank) const;
  /// Some rank has not found room.
  bool is_cut() const { return is_cut_; }
  /// Calls of threads of which nothing more is known, of all ranks.
  std::uint64_t unseen() const { return unseen_; }
  std::uint64_t bytes() const { return bytes_; }
  /// How often something was told: another number, other sums.
  std::uint64_t told() const { return told_; }

 private:
  void put(std::map<wire::Rank, wire::RankCalls>& into, wire::RankCalls calls);
  void take_out(std::map<wire::Rank, wire::RankCalls>& from, wire::Rank rank);

  std::uint64_t budget_;
  std::map<wire::Rank, wire::RankCalls> ranks_;
  std::map<wire::Rank, wire::RankCalls> earlier_;  ///< Of processes before the latest, where there were some.
  bool is_cut_ = false;
  std::uint64_t unseen_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace idlewave::timeline
