#include "probe/mpi/symbols.h"

#include <dlfcn.h>

namespace idlewave::mpi {
namespace {

/// The object itself, then what it was linked with.
void* find_from(const void* caller, const char* name) {
  Dl_info object;
  if (dladdr(caller, &object) == 0 || object.dli_fname == nullptr) return nullptr;
  void* handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

/// Null: in no object.
const void* object_of(const void* address) {
  Dl_info object;
  return dladdr(address, &object) != 0 ? object.dli_fbase : nullptr;
}

}  // namespace

void* find_next(const char* name, const void* caller) {
  void* found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : find_from(caller, name);
}

bool comes_to_us(const char* name) {
  const void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr && object_of(found) == object_of(reinterpret_cast<const void*>(&comes_to_us));
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
  void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : find_from(caller, name);
}

}  // namespace idlewave::mpi
