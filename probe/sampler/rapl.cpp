#include "probe/sampler/rapl.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "probe/sampler/small_file.h"

namespace idlewave::sampler {

namespace {

/// The driver's name also where the processor is AMD's. What `intel-rapl-mmio` shows are the same packages once more.
constexpr std::string_view kZones = "intel-rapl:";
constexpr const char* kEnergy = "energy_uj";
constexpr double kHighestPower = 1e5;  ///< Watts; some times what a node with everything in it takes.
/// After a longer silence the counter may have begun again more than once.
constexpr Nanoseconds kLongestSpan = std::chrono::seconds(20);

/// Zones of packages and what lies below them: "intel-rapl:0", "intel-rapl:0:1".
std::vector<std::string> zones_of(const std::string& root) {
  std::vector<std::string> zones;
  std::error_code ignored;
  for (auto entry = std::filesystem::directory_iterator(root, ignored);
       !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kZones)) zones.push_back(name);
  }
  std::ranges::sort(zones);
  return zones;
}

/// "intel-rapl:0" of "intel-rapl:0:1", and of itself.
std::string package_zone(const std::string& zone) { return zone.substr(0, zone.find(':', kZones.size())); }

/// The number behind `beginning` in `text`, if it is there.
std::optional<int> number_behind(std::string_view text, std::string_view beginning) {
  const std::size_t at = text.find(beginning);
  if (at == std::string_view::npos) return std::nullopt;
  int number = 0;
  const char* const first = text.data() + at + beginning.size();
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), number);
  return error == std::errc{} && end != first ? std::optional(number) : std::nullopt;
}

/// What a zone tells of, as the kernel calls it; empty: of something else.
std::string power_of(std::string_view name) {
  if (name.starts_with("package-")) return "package power";
  if (name == "dram") return "DRAM power";
  if (name == "core") return "core power";
  if (name == "uncore") return "uncore power";
  if (name == "psys") return "platform power";
  return {};
}

}  // namespace

std::string why_no_rapl(const std::string& root) {
  const std::vector<std::string> zones = zones_of(root);
  if (zones.empty())
    return "no energy counters here; it takes a processor with RAPL and the kernel's module intel_rapl_msr, and most "
           "virtual machines have none";
  const std::string counter = root + "/" + zones.front() + "/" + kEnergy;
  const Content content = read_start(counter);
  if (content.error == EACCES)
    return "energy counters are root's; as root: chmod a+r " + root + "/intel-rapl:*/" + kEnergy;
  return whole_number(first_line(content.text)) ? "" : counter + " says no number";
}

void Rapl::meet(const std::vector<MachineDomain>& machine, Nanoseconds) {
  machine_ = machine;
  counters_.clear();
  for (const std::string& zone : zones_of(root_)) add_zone(zone, machine);
}

void Rapl::add_zone(const std::string& zone, const std::vector<MachineDomain>& machine) {
  const std::string folder = root_ + "/" + zone;
  const std::string name = first_line(read_start(folder + "/name").text);
  const std::string package = first_line(read_start(root_ + "/" + package_zone(zone) + "/name").text);
  const auto range = read_number(folder + "/max_energy_range_uj");
  Counter counter{.what = power_of(name), .folder = folder, .domains = {}, .range = range.value_or(0)};
  if (counter.what.empty() || counter.range == 0) return;
  const auto number = number_behind(package, "package-"), die = number_behind(package, "-die-");
  for (const MachineDomain& domain : machine) {
    const std::string topology = processors_ + "/cpu" + std::to_string(domain.processors.front()) + "/topology/";
    const auto is = [&](const char* file, std::optional<int> wanted) {
      return !wanted || read_number(topology + file) == std::uint64_t(*wanted);
    };
    if (is("physical_package_id", number) && is("die_id", die)) counter.domains.push_back(domain.id);
  }
  if (number || name == "psys") counters_.push_back(std::move(counter));
}

void Rapl::place(wire::Rank, DomainId domain) { used_.insert(domain); }

/// It stands with the first of its domains that a rank runs on, and is said to be of all.
std::optional<wire::MeterInfo> Rapl::meter_of(const Counter& counter) const {
  const auto first = std::ranges::find_if(counter.domains, [&](DomainId domain) { return used_.contains(domain); });
  if (first == counter.domains.end()) return std::nullopt;
  std::string others;
  for (const MachineDomain& domain : machine_)
    if (domain.id != *first && std::ranges::binary_search(counter.domains, domain.id))
      others += (others.empty() ? "" : ", ") + domain.label;
  return wire::MeterInfo{*first, counter.what + (others.empty() ? "" : " (with " + others + ")"), "W", "RAPL"};
}

void Rapl::read_meters(Nanoseconds now, std::vector<MeterReading>& readings) {
  if (counters_.empty() || now < read_at_ + kInterval) return;
  read_at_ = now;
  for (Counter& counter : counters_) {
    if (!counter.meter) counter.meter = meter_of(counter);
    if (counter.meter) read(counter, now, readings);
  }
}

void Rapl::read(Counter& counter, Nanoseconds now, std::vector<MeterReading>& readings) {
  const auto energy = read_number(counter.folder + "/" + kEnergy);
  const auto before = std::exchange(counter.energy, energy);
  const Nanoseconds span = now - std::exchange(counter.told_at, now);
  if (!energy) return;
  const std::uint64_t began_again = before && *energy < *before ? counter.range : 0;
  const std::uint64_t spent = *energy + began_again - before.value_or(0);
  const double most = kHighestPower / wire::kMeterStep * std::chrono::duration<double>(span).count();
  const bool is_known = before && span <= kLongestSpan && double(spent) <= most;
  readings.push_back({*counter.meter, is_known ? std::optional(spent) : std::nullopt});
}

}  // namespace idlewave::sampler
