#include "workloads/sim/network/memory_domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/sim/core/bandwidth.h"

namespace idlewave::sim::network {

namespace {

constexpr int kBits = 56;
constexpr double kRoundUp = 1 + 0x1p-48;

std::int64_t fixed(double speed) {
  return speed == 1 ? std::int64_t{1} << kBits : std::int64_t(std::ceil(std::ldexp(speed * kRoundUp, kBits)));
}

Rank domains_of(const MemoryDomains& domains, Rank ranks) {
  return Rank((std::int64_t(ranks) + domains.ranks_per_domain - 1) / domains.ranks_per_domain);
}

}  // namespace

wire::Result<MemoryDomains> memory_domains(const support::Machine& machine, std::size_t most) {
  MemoryDomains domains{machine.ranks_per_domain, {0}};
  for (std::size_t active = 1; active <= most; ++active) {
    const double all = core::bandwidth(machine, active);
    if (!(all > 0) || !std::isfinite(all))
      return wire::Error{fmt::format("machine: {} B/s for {} at work; bandwidths must be above zero", all, active)};
    domains.speed.push_back(all / (double(active) * core::bandwidth(machine, 1)));
  }
  return domains;
}

SharedMemory::SharedMemory(const MemoryDomains& domains, Rank ranks, int cpus)
    : ranks_per_domain_(domains.ranks_per_domain),
      domains_(std::size_t(domains_of(domains, ranks))),
      calcs_(std::size_t(ranks) * std::size_t(cpus)) {
  for (const double speed : domains.speed) speed_.push_back(fixed(speed));
  for (std::size_t i = 0; i < domains_.size(); ++i)
    domains_[i].first = i * std::size_t(ranks_per_domain_) * std::size_t(cpus);
}

std::size_t SharedMemory::bytes_for(const MemoryDomains& domains, Rank ranks, int cpus) {
  return std::size_t(domains_of(domains, ranks)) * sizeof(Domain) +
         std::size_t(ranks) * std::size_t(cpus) * sizeof(Calc) + domains.speed.size() * sizeof(std::int64_t);
}

namespace {

constexpr auto kEndsLater = [](const auto& a, const auto& b) { return a.target > b.target; };

}  // namespace

std::optional<std::int64_t> SharedMemory::begin(Rank rank, std::uint32_t who, std::int64_t time, std::int64_t work) {
  Domain& domain = domains_[domain_of(rank)];
  if (time + work <= domain.time) return time + work;
  if (time < domain.time)
    work -= domain.time - time;
  else
    advance(domain, time);
  Calc* const calcs = &calcs_[domain.first];
  calcs[domain.active++] = {domain.service + (Work{work} << kBits), who};
  std::push_heap(calcs, calcs + domain.active, kEndsLater);
  foresee(domain);
  return std::nullopt;
}

void SharedMemory::advance(Domain& domain, std::int64_t time) {
  domain.service += Work{time - domain.time} * speed_[domain.active];
  domain.time = time;
}

std::uint32_t SharedMemory::take_first(Domain& domain) {
  Calc* const calcs = &calcs_[domain.first];
  std::pop_heap(calcs, calcs + domain.active, kEndsLater);
  return calcs[--domain.active].who;
}

void SharedMemory::foresee(Domain& domain) {
  if (domain.active == 0) {
    domain.service = 0;
    domain.next = kNever;
    return;
  }
  const Work left = calcs_[domain.first].target - domain.service;
  const Work speed = speed_[domain.active];
  domain.next = domain.time + std::int64_t((left + speed - 1) / speed);
}

}  // namespace idlewave::sim::network
