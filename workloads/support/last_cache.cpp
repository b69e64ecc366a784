#include "workloads/support/last_cache.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

namespace idlewave::support {
namespace {

namespace fs = std::filesystem;

struct Cache {
  int level = 0;
  std::uint64_t bytes = 0;
  std::string processors;  ///< That share it.
};

/// Of a folder as cpu0/cache/index3; of level 0 if that says something else.
Cache cache_in(const fs::path& folder) {
  Cache cache;
  char unit = 0;
  std::ifstream(folder / "level") >> cache.level;
  std::ifstream(folder / "size") >> cache.bytes >> unit;
  std::ifstream(folder / "shared_cpu_list") >> cache.processors;
  if (unit != 'K' || cache.processors.empty()) return {};
  cache.bytes <<= 10;
  return cache;
}

/// Those of the highest level so far.
struct LastCaches {
  int level = 1;
  std::uint64_t bytes = 0;
  std::set<std::string> counted;

  void add(const Cache& cache) {
    if (cache.level < level) return;
    if (cache.level > level) *this = {cache.level, 0, {}};
    if (counted.insert(cache.processors).second) bytes += cache.bytes;
  }
};

}  // namespace

/// sysconf knows one cache. On a virtual machine with a few cores of a large processor it is as large as all of that processor's.
std::uint64_t last_level_caches(const fs::path& processors) {
  LastCaches caches;
  std::error_code error;
  for (fs::directory_iterator processor(processors, error), end; !error && processor != end;
       processor.increment(error)) {
    std::error_code none;  // as folders have that are no processor's
    for (fs::directory_iterator cache(processor->path() / "cache", none); !none && cache != end; cache.increment(none))
      caches.add(cache_in(cache->path()));
  }
  if (caches.bytes > 0) return caches.bytes;
  return static_cast<std::uint64_t>(std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), 0L));
}

}  // namespace idlewave::support
