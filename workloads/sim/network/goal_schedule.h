#pragma once
// What every rank of a program does, as a graph of operations: the schedules of GOAL (Hoefler, Siebert, Lumsdaine:
// "Group Operation Assembly Language - A Flexible Way to Express Collective Communication", ICPP 2009), in arrays that
// an engine can run through.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::sim {

using wire::Rank;
using OpId = std::uint32_t;  ///< Place of an operation among all of a schedule.
using Tag = std::uint32_t;

inline constexpr Rank kAnySource = -1;
inline constexpr Tag kAnyTag = ~Tag{0};
inline constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kMaxCalcNs = std::uint64_t{1} << 53;
inline constexpr std::size_t kMaxOps = (std::size_t{1} << 31) - 1;

/// Their order is the one in which operations of a rank start that became ready at once.
enum class OpKind : std::uint8_t { kSend = 1, kRecv = 2, kCalc = 3 };

/// Which of a rank's processors and network interfaces an operation occupies.
struct Units {
  std::uint8_t cpu = 0;
  std::uint8_t nic = 0;
};

struct GoalOp {
  std::uint64_t amount = 0;  ///< Bytes of a message, nanoseconds of a calculation.
  Rank rank = 0;
  Rank peer = 0;  ///< Destination or source; kAnySource: whoever sends. 0 for a calculation.
  Tag tag = 0;
  OpKind kind = OpKind::kCalc;
  Units units;
};
static_assert(sizeof(GoalOp) == 24);

/// Operations in the order of their ranks, and for each the ones that wait for it: first those that wait for its start,
/// then those that wait for its end, either in the order in which they were declared. 24 bytes an operation, 4 more for
/// its place in the list of dependents, 4 a dependence. Immutable; built by GoalBuilder or read_goal.
class GoalSchedule {
 public:
  Rank ranks() const { return ranks_; }
  int cpus() const { return cpus_; }  ///< Of each rank: the largest number in use and one.
  int nics() const { return nics_; }
  std::span<const GoalOp> ops() const { return ops_; }

  static constexpr OpId kWaitsForStart = OpId{1} << 31;  ///< Flag beside the number of a dependent.
  std::span<const OpId> dependents(OpId op) const {
    return {dependents_.data() + first_dependent_[op], dependents_.data() + first_dependent_[op + 1]};
  }

  /// Brings what stands behind `op` into the cache: a run goes through the ranks' operations side by side, each in
  /// order, more streams than the processor follows by itself.
  void prefetch_behind(OpId op) const {
    const std::size_t last = ops_.size() - 1;
    __builtin_prefetch(&ops_[std::min<std::size_t>(op + 6, last)]);
    __builtin_prefetch(&first_dependent_[std::min<std::size_t>(op + 16, last)]);
    if (!dependents_.empty())
      __builtin_prefetch(&dependents_[std::min<std::size_t>(first_dependent_[op] + 16, dependents_.size() - 1)]);
  }

 private:
  friend class GoalBuilder;
  Rank ranks_ = 0;
  int cpus_ = 1;
  int nics_ = 1;
  std::vector<GoalOp> ops_;
  std::vector<std::uint32_t> first_dependent_;
  std::vector<OpId> dependents_;
};

/// `later` waits for `earlier`.
struct Dependence {
  OpId earlier = 0;
  OpId later = 0;  ///< With GoalSchedule::kWaitsForStart: only for its start.
};

/// Operations that wait for each other, each for the next and the last for the first; empty: there are none.
std::vector<OpId> find_cycle(std::span<const Dependence> dependences);

/// Puts a schedule together. Arguments out of range are broken promises (assertions); so is an operation of another
/// rank in a dependence. Numbers of operations stay valid after `build` if each rank's are added before the next's.
class GoalBuilder {
 public:
  explicit GoalBuilder(Rank ranks);

  OpId calc(Rank rank, std::uint64_t nanoseconds, Units units = {});
  OpId send(Rank rank, std::uint64_t bytes, Rank to, Tag tag, Units units = {});
  OpId recv(Rank rank, std::uint64_t bytes, Rank from, Tag tag, Units units = {});
  void after(OpId later, OpId earlier);        ///< GOAL's "later requires earlier".
  void after_start(OpId later, OpId earlier);  ///< GOAL's "later irequires earlier".

  Rank ranks() const { return schedule_.ranks_; }
  std::size_t size() const { return schedule_.ops_.size(); }
  std::span<const Dependence> dependences() const { return dependences_; }
  void reserve(std::size_t ops, std::size_t dependences);

  /// Error: operations that wait for each other; more than kMaxOps operations.
  wire::Result<GoalSchedule> build() &&;

 private:
  OpId add(const GoalOp& op);
  void depend(Dependence dependence);
  void sort_by_rank();
  void list_dependents();

  GoalSchedule schedule_;
  std::vector<Dependence> dependences_;
  bool sorted_ = true;     ///< So far no rank came after a higher one.
  bool ascending_ = true;  ///< So far no operation waits for a later one: no cycle.
};

}  // namespace idlewave::sim
