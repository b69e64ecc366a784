#pragma once

#include <map>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// What the model of each virtual socket says it has moved.
class VirtualSockets : public Source {
 public:
  wire::BandwidthSource kind() const override { return wire::BandwidthSource::kVirtual; }
  void observe_model(DomainId domain, std::uint64_t total) override;
  Standing standing(const Domain& domain, Nanoseconds) override {
    return {domain.is_virtual && sockets_.contains(domain.id), ""};
  }
  void begin(DomainId domain, Nanoseconds now) override;
  std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) override;

 private:
  struct Socket {
    std::uint64_t total = 0;
    std::uint64_t told = 0;
    Nanoseconds told_at{};
  };
  std::map<DomainId, Socket> sockets_;
};

}  // namespace idlewave::sampler
