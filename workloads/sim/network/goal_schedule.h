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
#include "workloads/sim/network/wait_counts.h"
#include "workloads/support/huge_pages.h"

namespace idlewave::sim::network {

using wire::Rank;
using OpId = std::uint32_t;  ///< Place of an operation among all of a schedule.
using Tag = std::uint32_t;

inline constexpr Rank kAnySource = -1;
inline constexpr Tag kAnyTag = ~Tag{0};
inline constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{1} << 48;
inline constexpr std::uint64_t kMaxCalcNs = std::uint64_t{1} << 53;
inline constexpr std::size_t kMaxOps = (std::size_t{1} << 30) - 1;

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
  Tag tag = 0;    ///< Of a calculation: whatever its observer makes of it.
  OpKind kind = OpKind::kCalc;
  Units units;
  bool idle = false;  ///< A calculation that is none: a delay, which draws no bandwidth and has no noise.
};
static_assert(sizeof(GoalOp) == 24);

/// An operation with up to two that wait for it, or with the place of their list: half a cache line.
struct alignas(32) PlacedOp : GoalOp {
  static constexpr OpId kNone = kMaxOps;
  static constexpr OpId kListed = ~OpId{0};

  PlacedOp() = default;
  explicit PlacedOp(const GoalOp& op) : GoalOp(op) {}

  OpId first = kNone;   ///< kListed in `second`: where the list begins.
  OpId second = kNone;  ///< Not without a first.
};
static_assert(sizeof(PlacedOp) == 32);

/// Operations in the order of their ranks, and for each the ones that wait for it: first those that wait for its start,
/// then those that wait for its end, either in the order in which they were declared. 33 bytes an operation, and of
/// those that more than two wait for 4 more and 4 a dependence. Immutable; built by GoalBuilder or read_goal.
class GoalSchedule {
 public:
  /// Sums over all operations.
  struct Amounts {
    double calc_ns = 0;
    double messages = 0;
    double bytes = 0;
  };
  using Ops = support::HugeVector<PlacedOp>;

  Rank ranks() const { return ranks_; }
  int cpus() const { return cpus_; }  ///< Of each rank: the largest number in use and one.
  int nics() const { return nics_; }
  std::span<const PlacedOp> ops() const { return ops_; }
  const WaitCounts& waits() const { return waits_; }
  std::span<const OpId> roots() const { return roots_; }  ///< Those that depend on none, ascending.
  const Amounts& amounts() const { return amounts_; }

  static constexpr OpId kWaitsForStart = OpId{1} << 31;  ///< Flag beside the number of a dependent.
  std::span<const OpId> dependents(OpId op) const { return dependents(ops_[op]); }
  std::span<const OpId> dependents(const PlacedOp& op) const {
    if (op.second != PlacedOp::kListed)
      return {&op.first, (op.first != PlacedOp::kNone) + std::size_t(op.second != PlacedOp::kNone)};
    return {&lists_[op.first + 1], lists_[op.first]};
  }

 private:
  friend class GoalBuilder;
  Rank ranks_ = 0;
  int cpus_ = 1;
  int nics_ = 1;
  Ops ops_;
  WaitCounts waits_;
  std::vector<OpId> roots_;
  Amounts amounts_;
  std::vector<OpId> lists_;  ///< The number of dependents, then they; one after another.
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

  OpId calc(Rank rank, std::uint64_t nanoseconds, Units units = {}, Tag tag = 0);
  OpId idle(Rank rank, std::uint64_t nanoseconds, Tag tag = 0);
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
  void sum_up();
  void list_dependents();
  void make_lists();
  void list(const Dependence& dependence);

  GoalSchedule schedule_;
  std::vector<Dependence> dependences_;
  bool sorted_ = true;     ///< So far no rank came after a higher one.
  bool ascending_ = true;  ///< So far no operation waits for a later one: no cycle.
};

}  // namespace idlewave::sim::network
