#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// Where sources find what they read.
struct Places {
  std::string likwid_reader;                 ///< The program; need not exist.
  std::string likwid_group{};                ///< That it is to count by; empty: it chooses.
  std::string resctrl = "/sys/fs/resctrl";   ///< The mounted file system; need not be there.
  std::string rapl = "/sys/class/powercap";  ///< Where the kernel shows energy counters; need not be there.
};

/// All sources of bandwidth, the best first: for each domain, the first that is ready tells.
std::vector<std::unique_ptr<Source>> sources_in_order(const Places& places);
/// What has nothing but meters.
std::vector<std::unique_ptr<Instrument>> other_instruments(const Places& places);

}  // namespace idlewave::sampler
