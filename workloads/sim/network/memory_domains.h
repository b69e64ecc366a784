#pragma once
// Calculations that share the bandwidth of memory domains.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/network/goal_schedule.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// Rank r lies in domain r / ranks_per_domain; the last domain may have fewer.
struct MemoryDomains {
  Rank ranks_per_domain = 1;
  /// [n]: nanoseconds of work that each of n calculations does in a nanosecond, b(n) / (n b(1)); [0] is not used.
  std::vector<double> speed;
};

/// For calculations of which each draws b(1) of the machine as long as it has its domain to itself. `most`: as many may
/// run on a domain at once. Error: bandwidths that are not above zero.
wire::Result<MemoryDomains> memory_domains(const support::Machine& machine, std::size_t most);

/// Who calculates on which domain, and until when: processor sharing. All that run on a domain advance alike, so one
/// number for each domain, the work S that each of them has been given, stands for all; one that begins at S with work
/// w ends at S + w. S is counted in 2^-56 ns by whole numbers, which makes sums exact; speeds that are no multiple of
/// that are rounded up, by 10^-14 at most, so that what ends at a whole nanosecond is not a nanosecond late.
/// Times are nanoseconds; ends are rounded up. begin, end: O(log of those that run on the domain).
class SharedMemory {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr double kFastest = 64;  ///< Speed.
  static constexpr double kSlowest = 1e-9;

  SharedMemory(const MemoryDomains& domains, Rank ranks, int cpus);

  std::size_t domains() const { return domains_.size(); }
  std::size_t domain_of(Rank rank) const { return std::size_t(rank / ranks_per_domain_); }

  /// `who` has `work` nanoseconds to do from `time` on. A time before the last begin or end on that domain: has had the
  /// memory to itself in between. Returns the end if it lies in that past.
  std::optional<std::int64_t> begin(Rank rank, std::uint32_t who, std::int64_t time, std::int64_t work);

  std::int64_t next_end(std::size_t domain) const { return domains_[domain].next; }

  /// Calls ended(who) for all that end at next_end.
  template <class Ended>
  void end(std::size_t number, Ended&& ended) {
    Domain& domain = domains_[number];
    advance(domain, domain.next);
    while (domain.active > 0 && calcs_[domain.first].target <= domain.service) ended(take_first(domain));
    foresee(domain);
  }

  static std::size_t bytes_for(const MemoryDomains& domains, Rank ranks, int cpus);

 private:
  __extension__ using Work = __int128;
  struct Calc {
    Work target;  ///< S at its end.
    std::uint32_t who;
  };
  struct Domain {
    Work service = 0;  ///< S at `time`.
    std::int64_t time = 0;
    std::int64_t next = kNever;
    std::size_t first = 0;  ///< In calcs_: a heap with the first to end in front.
    std::size_t active = 0;
  };

  void advance(Domain& domain, std::int64_t time);
  void foresee(Domain& domain);
  std::uint32_t take_first(Domain& domain);

  Rank ranks_per_domain_;
  std::vector<std::int64_t> speed_;  ///< [n], in 2^-56.
  std::vector<Domain> domains_;
  std::vector<Calc> calcs_;
};

}  // namespace idlewave::sim::network
