#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// What the processor's memory bandwidth monitoring (Intel MBM, AMD PQoS) says through the kernel's resctrl file
/// system, which any user may read once root has mounted it: Documentation/filesystems/resctrl.rst of the kernel.
///
/// The kernel counts, for each L3 cache, the bytes that its processors have moved, for each group of tasks. A domain is
/// one or more L3 caches, or, with sub-NUMA clustering, one node of a cache; its traffic is the sum over all groups that
/// root may have made, since what runs in one is not counted in the root group. The kernel extends the narrow counters
/// of the hardware to 64 bits, so a count that falls, or that jumps by more than any memory moves, is one that began anew
/// (a group was removed, counters were given to others) and no wrap that could be undone.
class Resctrl : public Source {
 public:
  explicit Resctrl(std::string root, std::string processors = "/sys/devices/system/cpu")
      : root_(std::move(root)), processors_(std::move(processors)) {}

  wire::BandwidthSource kind() const override { return wire::BandwidthSource::kResctrl; }
  void meet(const std::vector<MachineDomain>& machine, Nanoseconds now) override;
  Standing standing(const Domain& domain, Nanoseconds now) override;
  void begin(DomainId domain, Nanoseconds now) override;
  std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) override;

 private:
  using Counts = std::map<std::string, std::uint64_t>;  ///< By file.
  struct Reading {
    Counts counts;
    std::string why_not;  ///< Empty: all could be read.
  };
  struct Monitored {
    std::vector<int> caches;  ///< Numbers of the L3 caches that its processors use.
    int node = 0;
    bool shares_cache = false;  ///< With another domain.
    Standing standing;
    Nanoseconds try_at{};  ///< When to look again, while not ready.
    Counts counts;         ///< As of the figure told last.
    Nanoseconds told_at{};
    int failed = 0;  ///< Readings in a row.
  };

  void look(Monitored& domain, Nanoseconds now);
  void give_up(Monitored& domain, Nanoseconds now, const std::string& why_not);
  Reading read(const Monitored& domain) const;
  void read_group(const std::string& group, const Monitored& domain, Reading& into) const;

  std::string root_;
  std::string processors_;
  std::map<DomainId, Monitored> domains_;
};

/// Why memory traffic can't be read through resctrl mounted at `root`, and how to get it; empty: it can.
std::string why_no_resctrl(const std::string& root);

}  // namespace idlewave::sampler
