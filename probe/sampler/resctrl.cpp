#include "probe/sampler/resctrl.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "probe/sampler/small_file.h"

namespace idlewave::sampler {

namespace {

/// So many readings in a row may fail or begin anew: the hardware lends its counters, so a single one tells little.
constexpr int kTries = 5;
constexpr Nanoseconds kLater = std::chrono::seconds(5);
/// Bytes per second; some times what the fastest memory of a socket moves.
constexpr double kHighestBandwidth = 4e12;
constexpr const char* kCounter = "mbm_total_bytes";

std::string numbered(const char* name, int number) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%s_%02d", name, number);  // as the kernel writes it
  return text.data();
}

/// The root group and those that root has made beside it. A group for monitoring alone lies below one of them and is
/// counted in it.
std::vector<std::string> groups_of(const std::string& root) {
  std::vector<std::string> groups{root};
  std::error_code ignored;
  for (auto entry = std::filesystem::directory_iterator(root, ignored);
       !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    const std::string path = entry->path().string();
    std::error_code none;
    if (std::filesystem::is_directory(path + "/mon_data", none)) groups.push_back(path);
  }
  return groups;
}

/// Bytes moved between two readings; nothing if a count began anew between them, or a group came or went.
std::optional<std::uint64_t> moved(const std::map<std::string, std::uint64_t>& before,
                                   const std::map<std::string, std::uint64_t>& after, Nanoseconds time) {
  const double most = kHighestBandwidth * std::chrono::duration<double>(time).count();
  if (before.size() != after.size()) return std::nullopt;
  std::uint64_t sum = 0;
  for (auto was = before.begin(), is = after.begin(); was != before.end(); ++was, ++is) {
    if (was->first != is->first || is->second < was->second) return std::nullopt;
    const std::uint64_t more = is->second - was->second;
    if (double(sum) + double(more) > most) return std::nullopt;
    sum += more;
  }
  return sum;
}

std::string may_not_read(const std::string& path) { return path + " may not be read; ask root to allow it"; }

std::string in_words(int error) {
  std::string text = std::strerror(error);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = char(text[0] - 'A' + 'a');
  return text;
}

}  // namespace

std::string why_no_resctrl(const std::string& root) {
  std::error_code ignored;
  if (!std::filesystem::exists(root, ignored)) {
    return "not offered here; it takes a processor with cqm_mbm_total among the flags in /proc/cpuinfo and a kernel "
           "with CONFIG_X86_CPU_RESCTRL";
  }
  const std::string features = root + "/info/L3_MON/mon_features";
  const std::string counters = root + "/mon_data";
  const Content listed = read_start(features);
  if (listed.error == EACCES) return may_not_read(features);
  if (!std::filesystem::exists(root + "/info", ignored))
    return "not mounted; as root: mount -t resctrl resctrl " + root;
  if (("\n" + listed.text).find("\n" + std::string(kCounter) + "\n") == std::string::npos) {
    return "this processor counts no memory traffic, or the kernel was told not to; the kernel option rdt=mbmtotal may "
           "turn it on";
  }
  return access(counters.c_str(), R_OK | X_OK) == 0 ? "" : may_not_read(counters);
}

void Resctrl::meet(const std::vector<MachineDomain>& machine, Nanoseconds) {
  std::map<int, int> users;  // of each cache
  for (const MachineDomain& domain : machine) {
    std::set<int> caches;
    for (const int processor : domain.processors) {
      const std::string file = processors_ + "/cpu" + std::to_string(processor) + "/cache/index3/id";
      const auto id = whole_number(first_line(read_start(file).text));
      if (id && *id < 1u << 20) caches.insert(int(*id));
    }
    for (const int cache : caches) ++users[cache];
    Monitored& monitored = domains_[domain.id];
    monitored.caches.assign(caches.begin(), caches.end());
    monitored.node = domain.node;
  }
  for (auto& [id, domain] : domains_) {
    domain.shares_cache =
        std::any_of(domain.caches.begin(), domain.caches.end(), [&](int cache) { return users[cache] > 1; });
  }
}

Standing Resctrl::standing(const Domain& domain, Nanoseconds now) {
  const auto known = domains_.find(domain.id);
  if (domain.is_virtual || known == domains_.end()) return {};
  if (!known->second.standing.ready && now >= known->second.try_at) look(known->second, now);
  return known->second.standing;
}

void Resctrl::look(Monitored& domain, Nanoseconds now) {
  std::string why_not = why_no_resctrl(root_);
  if (why_not.empty()) why_not = read(domain).why_not;
  if (!why_not.empty()) return give_up(domain, now, why_not);
  domain.standing = {true, ""};
}

void Resctrl::give_up(Monitored& domain, Nanoseconds now, const std::string& why_not) {
  domain.standing = {false, "resctrl: " + why_not};
  domain.try_at = now + kLater;
  domain.failed = 0;
}

Resctrl::Reading Resctrl::read(const Monitored& domain) const {
  Reading reading;
  if (domain.caches.empty()) reading.why_not = "the system does not say which L3 caches these processors use";
  for (const std::string& group : groups_of(root_)) read_group(group, domain, reading);
  return reading;
}

void Resctrl::read_group(const std::string& group, const Monitored& domain, Reading& into) const {
  for (const int cache : domain.caches) {
    const std::string whole = group + "/mon_data/" + numbered("mon_L3", cache);
    const std::string of_node = whole + "/" + numbered("mon_sub_L3", domain.node);
    std::error_code ignored;
    const bool apart = std::filesystem::is_directory(of_node, ignored);
    const std::string path = (apart ? of_node : whole) + "/" + kCounter;
    const Content content = read_start(path);
    const std::string said = first_line(content.text);
    const auto count = whole_number(said);
    if (content.error != 0) {
      into.why_not = path + ": " + in_words(content.error);
    } else if (!count) {
      // "Unavailable", "Error" and "Unassigned" are what the kernel says
      into.why_not = path + " says '" + said + "'";
    } else if (domain.shares_cache && !apart) {
      into.why_not =
          "L3 cache " + std::to_string(cache) + " serves several NUMA nodes, which this kernel does not count apart";
    } else {
      into.counts.emplace(path, *count);
    }
  }
}

void Resctrl::begin(DomainId id, Nanoseconds now) {
  Monitored& domain = domains_[id];
  Reading reading = read(domain);
  if (!reading.why_not.empty()) return give_up(domain, now, reading.why_not);
  domain.counts = std::move(reading.counts);
  domain.told_at = domain.try_at = now;
}

std::optional<std::uint64_t> Resctrl::sample(DomainId id, Nanoseconds now) {
  Monitored& domain = domains_[id];
  if (now < std::max(domain.told_at, domain.try_at) + kInterval) return std::nullopt;
  domain.try_at = now;
  Reading reading = read(domain);
  std::optional<std::uint64_t> bytes;
  if (reading.why_not.empty()) {
    bytes = moved(domain.counts, reading.counts, now - domain.told_at);
    domain.standing.ready = bytes.has_value();
    domain.counts = std::move(reading.counts);
    domain.told_at = now;
    reading.why_not = "its counters begin anew again and again";
  }
  domain.failed = bytes ? 0 : domain.failed + 1;
  if (domain.failed == kTries) give_up(domain, now, reading.why_not);
  return bytes;
}

}  // namespace idlewave::sampler
