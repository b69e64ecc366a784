#include "probe/sampler/sources.h"

#include "probe/sampler/declared.h"
#include "probe/sampler/likwid.h"
#include "probe/sampler/rapl.h"
#include "probe/sampler/resctrl.h"
#include "probe/sampler/virtual_sockets.h"

namespace idlewave::sampler {

std::vector<std::unique_ptr<Source>> sources_in_order(const Places& places) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<Likwid>(places.likwid_reader, places.likwid_group));
  sources.push_back(std::make_unique<Resctrl>(places.resctrl));
  sources.push_back(std::make_unique<Declared>());
  sources.push_back(std::make_unique<VirtualSockets>());
  return sources;
}

std::vector<std::unique_ptr<Instrument>> other_instruments(const Places& places) {
  std::vector<std::unique_ptr<Instrument>> instruments;
  instruments.push_back(std::make_unique<Rapl>(places.rapl));
  return instruments;
}

}  // namespace idlewave::sampler
