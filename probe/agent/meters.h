#pragma once

#include <functional>
#include <vector>

#include "probe/agent/event_frames.h"
#include "probe/sampler/source.h"
#include "probe/wire/frame.h"

namespace idlewave::agent {

/// What a node's instruments tell beside bandwidth, on the wire. The agent's thread.
class Meters {
 public:
  /// Appends what was read of domains of which `is_told` says that they are; true if some meter is new.
  bool tell(std::vector<sampler::MeterReading> readings, const std::function<bool(wire::DomainId)>& is_told,
            wire::Nanoseconds now, EventFrames& frames);
  /// All that ever told something; new ones come behind.
  const std::vector<wire::MeterInfo>& all() const { return all_; }

 private:
  std::vector<wire::MeterInfo> all_;
  std::vector<wire::Nanoseconds> last_;  ///< Of their lanes.
};

}  // namespace idlewave::agent
