#pragma once

#include <map>

#include "probe/sampler/sampler.h"

namespace idlewave::sampler {

/// What the model of each virtual socket says it has moved.
class VirtualSockets : public Sampler {
 public:
  /// Bytes that the model of `domain` has moved since it was made, as the rank that is furthest ahead reports it.
  void observe(DomainId domain, std::uint64_t total);

  wire::BandwidthSource source() const override { return wire::BandwidthSource::kVirtual; }
  bool covers(DomainId domain) const override { return sockets_.contains(domain); }
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
