#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// Power of processor packages, of their cores and of their memory, from the energy counters (RAPL) that the kernel shows
/// under powercap: Documentation/power/powercap/powercap.rst of the kernel. They count microjoules, which is what a
/// meter of watts is told in, and begin again behind a range that the kernel says; that takes a minute at least.
///
/// Since Linux 5.10 only root may read them (CVE-2020-8694), unless somebody has allowed it.
class Rapl : public Instrument {
 public:
  explicit Rapl(std::string root, std::string processors = "/sys/devices/system/cpu")
      : root_(std::move(root)), processors_(std::move(processors)) {}

  void meet(const std::vector<MachineDomain>& machine, Nanoseconds now) override;
  void place(wire::Rank rank, DomainId domain) override;
  void read_meters(Nanoseconds now, std::vector<MeterReading>& readings) override;

 private:
  /// One zone of powercap.
  struct Counter {
    std::string what;  ///< "package power"
    std::string folder;
    std::vector<DomainId> domains;           ///< Of whose processors it tells, ascending.
    std::uint64_t range = 0;                 ///< Microjoules, behind which it begins again.
    std::optional<wire::MeterInfo> meter{};  ///< Once a rank runs on one of them.
    std::optional<std::uint64_t> energy{};   ///< As of the reading told last; nothing: not counting.
    Nanoseconds told_at{};
  };
  void add_zone(const std::string& zone, const std::vector<MachineDomain>& machine);
  std::optional<wire::MeterInfo> meter_of(const Counter& counter) const;
  void read(Counter& counter, Nanoseconds now, std::vector<MeterReading>& readings);

  std::string root_;
  std::string processors_;
  std::vector<Counter> counters_;
  std::vector<MachineDomain> machine_;
  std::set<DomainId> used_;
  Nanoseconds read_at_{};
};

/// Why power can't be read from the kernel's energy counters at `root`, and how to get it; empty: it can.
std::string why_no_rapl(const std::string& root);

}  // namespace idlewave::sampler
