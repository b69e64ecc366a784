#include "probe/agent/topology.h"

#include <hwloc.h>

#include <algorithm>

namespace idlewave::agent {

using sampler::MachineDomain;

namespace {

struct BitmapFree {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapFree>;

std::vector<int> processors_in(hwloc_const_cpuset_t set) {
  std::vector<int> processors;
  for (int next = hwloc_bitmap_first(set); next >= 0; next = hwloc_bitmap_next(set, next)) processors.push_back(next);
  return processors;
}

Bitmap make_bitmap() { return Bitmap(hwloc_bitmap_alloc()); }

}  // namespace

struct Topology::Impl {
  hwloc_topology_t topology = nullptr;
  std::vector<MachineDomain> domains;
  std::vector<hwloc_const_cpuset_t> processors;  // of each domain; they belong to the topology

  bool load() { return hwloc_topology_init(&topology) == 0 && hwloc_topology_load(topology) == 0; }

  /// NUMA nodes with the same processors (fast and slow memory of one socket) are one domain; those without any are
  /// none.
  void find_domains() {
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
      const auto same = [&](hwloc_const_cpuset_t set) { return hwloc_bitmap_isequal(set, node->cpuset) != 0; };
      if (hwloc_bitmap_iszero(node->cpuset) || std::any_of(processors.begin(), processors.end(), same)) continue;
      domains.push_back({wire::DomainId(domains.size()), "NUMA " + std::to_string(node->os_index), int(node->os_index),
                         processors_in(node->cpuset)});
      processors.push_back(node->cpuset);
    }
    for (std::size_t i = 0; i < domains.size(); ++i) label_as_socket(i);
  }

  void label_as_socket(std::size_t index) {
    for (hwloc_obj_t package = nullptr;
         (package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package)) != nullptr;) {
      if (hwloc_bitmap_isequal(package->cpuset, processors[index])) {
        domains[index].label = "socket " + std::to_string(package->logical_index);
      }
    }
  }

  /// Domains that share a processor with `set`.
  std::vector<wire::DomainId> domains_of(hwloc_const_cpuset_t set) const {
    std::vector<wire::DomainId> found;
    for (const MachineDomain& domain : domains) {
      if (hwloc_bitmap_intersects(set, processors[std::size_t(domain.id)])) found.push_back(domain.id);
    }
    return found;
  }
};

Topology::Topology() : impl_(std::make_unique<Impl>()) {
  if (impl_->load()) impl_->find_domains();
}

Topology::~Topology() {
  if (impl_->topology != nullptr) hwloc_topology_destroy(impl_->topology);
}

const std::vector<MachineDomain>& Topology::domains() const { return impl_->domains; }

std::vector<int> Topology::cores_of(wire::DomainId domain) const {
  const hwloc_const_cpuset_t set = impl_->processors[std::size_t(domain)];
  std::vector<int> cores;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_inside_cpuset_by_type(impl_->topology, set, HWLOC_OBJ_CORE, core)) != nullptr;)
    cores.push_back(hwloc_bitmap_first(core->cpuset));
  std::ranges::sort(cores);
  return cores.empty() ? processors_in(set) : cores;
}

std::uint64_t Topology::last_cache_of(wire::DomainId domain) const {
  const hwloc_const_cpuset_t set = impl_->processors[std::size_t(domain)];
  for (const hwloc_obj_type_t level : {HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    std::uint64_t bytes = 0;
    for (hwloc_obj_t cache = nullptr; (cache = hwloc_get_next_obj_by_type(impl_->topology, level, cache)) != nullptr;) {
      if (hwloc_bitmap_intersects(cache->cpuset, set)) bytes += cache->attr->cache.size;
    }
    if (bytes > 0) return bytes;
  }
  return 0;
}

wire::DomainId Topology::domain_of_processor(int processor) const {
  for (const MachineDomain& domain : impl_->domains)
    if (std::ranges::binary_search(domain.processors, processor)) return domain.id;
  return wire::kNoDomain;
}

Topology::Place Topology::place_of(pid_t pid) const {
  if (impl_->domains.empty()) return {};
  const Bitmap set = make_bitmap();
  // Of the main thread: helper threads of an MPI library are often bound nowhere.
  if (hwloc_get_proc_cpubind(impl_->topology, pid, set.get(), HWLOC_CPUBIND_THREAD) == 0) {
    const auto allowed = impl_->domains_of(set.get());
    if (allowed.size() == 1) return {allowed.front(), true};
  }
  if (hwloc_get_proc_last_cpu_location(impl_->topology, pid, set.get(), HWLOC_CPUBIND_THREAD) == 0) {
    const auto last = impl_->domains_of(set.get());
    if (!last.empty()) return {last.front(), false};
  }
  return {};
}

}  // namespace idlewave::agent
