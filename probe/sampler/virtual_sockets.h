#pragma once

#include <map>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// What the model of each virtual socket says it has moved. It says so at the end of a step, which all of a socket may
/// end together: between two steps it is taken to go on as it went until then, so that a figure does not depend on how
/// many ends of steps its interval happens to hold.
class VirtualSockets : public Source {
 public:
  wire::BandwidthSource kind() const override { return wire::BandwidthSource::kVirtual; }
  void observe_model(DomainId domain, const ModelTotal& total) override;
  Standing standing(const Domain& domain, Nanoseconds) override {
    return {domain.is_virtual && sockets_.contains(domain.id), ""};
  }
  void begin(DomainId domain, Nanoseconds now) override;
  std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) override;

 private:
  struct Socket {
    ModelTotal total;
    ModelTotal before;       ///< The total at the figure before.
    std::uint64_t told = 0;  ///< Bytes in all figures, and what was moved before the first.
    Nanoseconds told_at{};

    /// That it has moved anything: some of it may have been moved before anybody counted.
    bool is_first_told() const { return before.bytes == 0 && before.at == Nanoseconds(0) && total.bytes > 0; }
    std::uint64_t moved_until(Nanoseconds now) const;
  };
  std::map<DomainId, Socket> sockets_;
};

}  // namespace idlewave::sampler
