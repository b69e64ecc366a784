#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "probe/sampler/source.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// The machine as hwloc knows it, without what this process may not use. The only file that knows hwloc.
class Topology {
 public:
  Topology();  ///< Some 10 ms. Without any domain if hwloc fails.
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const std::vector<sampler::MachineDomain>& domains() const;
  /// One processor of each core of a domain, ascending: its others share the core with it.
  std::vector<int> cores_of(wire::DomainId domain) const;
  /// Bytes of the last level of cache that the processors of a domain have, all caches of it together. 0: not known.
  std::uint64_t last_cache_of(wire::DomainId domain) const;

  struct Place {
    wire::DomainId domain = wire::kNoDomain;
    bool bound = false;  ///< All processors that the process may use are of this domain. Else: it last ran there.
  };
  Place place_of(pid_t pid) const;
  /// The domain that this processor is of; of one that there is not, none.
  wire::DomainId domain_of_processor(int processor) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace idlewave::agent
