#pragma once
// How near an exchange comes to what was seen of some steps.

#include <limits>
#include <vector>

#include "monitor/analysis/partners/exchange.h"

namespace idlewave::analysis::partners {

/// Counts what its answers cost, so that a search can be cut into pieces of the same size. The sample must outlive it;
/// one thread.
class ExchangeFit {
 public:
  static constexpr double kAny = std::numeric_limits<double>::infinity();

  explicit ExchangeFit(const steps::StepSample& sample) : sample_(sample) {}

  /// Nanoseconds by which ends are off, in the mean; infinity where that is more than `most`, or none is known.
  double off_by(const Exchange& exchange, double most = kAny) const;
  /// The same if each wait lasts as long as any other.
  double off_alone() const;

  /// What a message takes, and by how much ends are off then, if by less than `most`; else that is infinity.
  struct Timed {
    Nanoseconds transfer{};
    double off = 0;
  };
  /// What waits lasted beyond what they last if messages take no time, shared out among as many messages as may follow
  /// one another: of some such times the one by which the ends are nearest.
  Timed timed(Exchange exchange, double most = kAny) const;
  /// From the transfer time that there is, off by `off`, by halves of steps to where ends are nearest.
  Nanoseconds refined_transfer(Exchange exchange, double off) const;

  /// Of the time by which those at this offset were later than a rank: the share that it did not wait.
  double ignored(Rank offset, bool ring) const;

  /// Posts that were looked at so far, each as often as that was.
  std::uint64_t looks() const { return looks_; }

 private:
  std::vector<double> beyond_of(const Exchange& exchange) const;

  const steps::StepSample& sample_;
  mutable std::uint64_t looks_ = 0;
};

}  // namespace idlewave::analysis::partners
