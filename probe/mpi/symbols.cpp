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

}  // namespace

void* find_next(const char* name, const void* caller) {
  void* found = dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : find_from(caller, name);
}

void* find_variable(const char* name, const void* caller) {
  void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : find_from(caller, name);
}

}  // namespace idlewave::mpi
