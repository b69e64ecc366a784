#include "probe/mpi/symbols.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

// Where the linker has laid the object that this is part of.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start;
[[gnu::visibility("hidden")]] extern const char _end;
}

namespace idlewave::mpi {
namespace {

/// The object of that file itself, then what it was linked with.
void* find_in(const char* file, const char* name) {
  void* handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

void* find_from(const void* address, const char* name) {
  Dl_info object;
  return dladdr(address, &object) != 0 && object.dli_fname != nullptr ? find_in(object.dli_fname, name) : nullptr;
}

/// Null: in no object.
const void* object_of(const void* address) {
  Dl_info object;
  return dladdr(address, &object) != 0 ? object.dli_fbase : nullptr;
}

/// Without dladdr, which goes through all names of MPI's library: every function that we stand before is asked about where a rank begins.
bool is_ours(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  return place >= reinterpret_cast<std::uintptr_t>(&__ehdr_start) && place < reinterpret_cast<std::uintptr_t>(&_end);
}

/// An object of the process, by its place in the linker's list.
struct Listed {
  int place;
  char file[PATH_MAX];
  bool is_there;
};

int take_if_it(dl_phdr_info* object, std::size_t, void* listed) {
  auto& wanted = *static_cast<Listed*>(listed);
  if (wanted.place-- > 0) return 0;
  wanted.is_there = true;
  snprintf(wanted.file, sizeof wanted.file, "%s", object->dlpi_name != nullptr ? object->dlpi_name : "");
  return 1;
}

/// Where MPI was found that the linker does not show to all: an address in that library.
std::atomic<const void*> library{nullptr};

void* find_hidden(const char* name, const void* caller) {
  void* found = find_from(caller, name);
  const void* known = library.load(std::memory_order_relaxed);
  if (found == nullptr && known != nullptr) found = find_from(known, name);
  return found != nullptr && !is_ours(found) ? found : nullptr;
}

}  // namespace

void* find_next(const char* name, const void* caller) {
  if (void* found = dlsym(RTLD_NEXT, name); found != nullptr) return found;
  void* found = find_hidden(name, caller);
  if (found != nullptr) library.store(found, std::memory_order_relaxed);
  return found;
}

/// One after the other, since none can be opened while the linker goes through them.
void* find_anywhere(const char* name) {
  Listed listed{};
  for (int place = 0;; ++place) {
    listed.place = place;
    listed.is_there = false;
    dl_iterate_phdr(take_if_it, &listed);
    if (!listed.is_there) return nullptr;
    void* found = listed.file[0] != '\0' ? find_in(listed.file, name) : nullptr;
    if (found == nullptr || is_ours(found)) continue;
    library.store(found, std::memory_order_relaxed);
    return found;
  }
}

NamesForAll::NamesForAll() : program_(dlopen(nullptr, RTLD_LAZY)) {}

NamesForAll::~NamesForAll() {
  if (program_ != nullptr) dlclose(program_);
}

void* NamesForAll::find(const char* name) const { return program_ != nullptr ? dlsym(program_, name) : nullptr; }

bool NamesForAll::come_to_us(const char* name) const {
  const void* found = find(name);
  return found != nullptr && is_ours(found);
}

bool is_in_library(const void* address) {
  const void* object = object_of(address);
  const auto has = [&](const char* name) {
    const void* found = find_from(address, name);
    return found != nullptr && object_of(found) == object;
  };
  return has("MPI_Init") || has("mpi_init_");
}

void* find_variable(const char* name, const void* caller) {
  void* found = NamesForAll().find(name);
  return found != nullptr ? found : find_hidden(name, caller);
}

}  // namespace idlewave::mpi
