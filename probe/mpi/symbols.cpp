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

bool comes_to_us(const char* name) {
  Dl_info ours, theirs;
  const void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr && dladdr(found, &theirs) != 0 &&
         dladdr(reinterpret_cast<const void*>(&comes_to_us), &ours) != 0 && ours.dli_fbase == theirs.dli_fbase;
}

void* find_variable(const char* name, const void* caller) {
  void* found = dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : find_from(caller, name);
}

}  // namespace idlewave::mpi
