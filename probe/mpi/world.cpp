#include "probe/mpi/world.h"

#include <dlfcn.h>
#include <string.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "probe/mpi/symbols.h"

namespace idlewave::mpi {
namespace {

using Handle = std::uintptr_t;  ///< A pointer in Open MPI, an int in MPICH; handed over in one register either way.

/// MPI_COMM_WORLD and MPI_COMM_NULL.
struct Constants {
  Handle world = 0;
  Handle null = 0;
  explicit operator bool() const { return world != 0; }
};

/// MPI_MAX_LIBRARY_VERSION_STRING of MPICH 4 is 8192, the largest there is.
constexpr std::size_t kVersionLimit = 16384;

template <class Function>
Function* find(const char* name, const void* caller) {
  return reinterpret_cast<Function*>(find_next(name, caller));
}

/// Variables of the library, which a program that is not position-independent holds copies of.
Constants constants_of_open_mpi(const void* caller) {
  return {reinterpret_cast<Handle>(find_variable("ompi_mpi_comm_world", caller)),
          reinterpret_cast<Handle>(find_variable("ompi_mpi_comm_null", caller))};
}

/// Numbers that MPICH and all that keep to its binary interface have agreed on; libraries of the standard's own binary
/// interface (libmpi_abi) have others.
Constants constants_of_mpich(const void* caller) {
  const auto get_version = find<int(char*, int*)>("PMPI_Get_library_version", caller);
  Dl_info object;
  if (get_version == nullptr || dladdr(reinterpret_cast<const void*>(get_version), &object) == 0) return {};
  if (object.dli_fname != nullptr && strstr(object.dli_fname, "mpi_abi") != nullptr) return {};
  char version[kVersionLimit];
  int length = 0;
  if (get_version(version, &length) != 0) return {};
  for (const char* family : {"MPICH", "MVAPICH", "Intel(R) MPI"}) {
    if (strstr(version, family) != nullptr) return {0x44000000, 0x04000000};
  }
  return {};
}

bool was_spawned(const Constants& constants, const void* caller) {
  const auto get_parent = find<int(Handle*)>("PMPI_Comm_get_parent", caller);
  Handle parent = 0;
  if (get_parent == nullptr || get_parent(&parent) != 0) return false;
  return parent != constants.null && static_cast<std::uint32_t>(parent) != constants.null;
}

}  // namespace

World look_at_world(const void* caller) {
  Constants constants = constants_of_open_mpi(caller);
  if (!constants) constants = constants_of_mpich(caller);
  if (!constants) return {.why_not = "its MPI is neither Open MPI nor of MPICH's kin"};
  const auto get_rank = find<int(Handle, int*)>("PMPI_Comm_rank", caller);
  const auto get_size = find<int(Handle, int*)>("PMPI_Comm_size", caller);
  World world{.comm = static_cast<std::intptr_t>(constants.world)};
  if (get_rank == nullptr || get_size == nullptr || get_rank(constants.world, &world.rank) != 0 ||
      get_size(constants.world, &world.size) != 0)
    return {.why_not = "its MPI does not say which rank it is"};
  if (was_spawned(constants, caller)) world.why_not = "it was started by MPI_Comm_spawn and has a world of its own";
  return world;
}

bool is_initialized(const void* caller) {
  int begun = 0, ended = 0;
  const auto initialized = find<int(int*)>("PMPI_Initialized", caller);
  const auto finalized = find<int(int*)>("PMPI_Finalized", caller);
  return initialized != nullptr && initialized(&begun) == 0 && begun != 0 && finalized != nullptr &&
         finalized(&ended) == 0 && ended == 0;
}

}  // namespace idlewave::mpi
