#include "probe/mpi/world.h"

#include <dlfcn.h>
#include <string.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "probe/mpi/symbols.h"

namespace idlewave::mpi {
namespace {

/// MPI_MAX_LIBRARY_VERSION_STRING of MPICH 4 is 8192, the largest there is.
constexpr std::size_t kVersionLimit = 16384;

template <class Function>
Function* find(const char* name, const void* caller) {
  return reinterpret_cast<Function*>(find_next(name, caller));
}

/// Of version 5 of the standard. Other libraries that have the function say -1, as MPICH's with handles of its own.
bool keeps_to_the_standard(const void* caller) {
  const auto get_version = find<int(int*, int*)>("PMPI_Abi_get_version", caller);
  int version = -1, subversion = -1;
  return get_version != nullptr && get_version(&version, &subversion) == 0 && version == 1;
}

/// Handles are variables of the library, which a program that is not position-independent holds copies of.
std::optional<BinaryInterface> of_open_mpi(const void* caller) {
  const void* const world = find_variable("ompi_mpi_comm_world", caller);
  if (world == nullptr) return std::nullopt;
  return BinaryInterface{.world = reinterpret_cast<Word>(world),
                         .no_communicator = reinterpret_cast<Word>(find_variable("ompi_mpi_comm_null", caller)),
                         .any_source = -1,
                         .status_bytes = 24,
                         .cart = 1,
                         .graph = 2,
                         .dist_graph = 3};
}

/// MPICH and all that have agreed on its numbers; not what it has of drafts of the standard's interface (libmpi_abi).
bool is_of_mpich(const void* caller) {
  const auto get_version = find<int(char*, int*)>("PMPI_Get_library_version", caller);
  Dl_info object;
  if (get_version == nullptr || dladdr(reinterpret_cast<const void*>(get_version), &object) == 0) return false;
  if (object.dli_fname != nullptr && strstr(object.dli_fname, "mpi_abi") != nullptr) return false;
  char version[kVersionLimit];
  int length = 0;
  if (get_version(version, &length) != 0) return false;
  for (const char* family : {"MPICH", "MVAPICH", "Intel(R) MPI"})
    if (strstr(version, family) != nullptr) return true;
  return false;
}

constexpr BinaryInterface kStandard{.world = 0x101,
                                    .no_communicator = 0x100,
                                    .any_source = -1,
                                    .status_bytes = 32,
                                    .cart = 211,
                                    .graph = 212,
                                    .dist_graph = 213};
constexpr BinaryInterface kMpich{.world = 0x44000000,
                                 .no_communicator = 0x04000000,
                                 .has_numbers = true,
                                 .any_source = -2,
                                 .status_bytes = 20,
                                 .source_at = 8,
                                 .ignore = 1,
                                 .cart = 2,
                                 .graph = 1,
                                 .dist_graph = 3};

/// That of the standard first: the library may be one of Open MPI's as well.
std::optional<BinaryInterface> interface_of(const void* caller) {
  if (keeps_to_the_standard(caller)) return kStandard;
  if (const auto open_mpi = of_open_mpi(caller)) return open_mpi;
  if (is_of_mpich(caller)) return kMpich;
  return std::nullopt;
}

bool was_spawned(const BinaryInterface& interface, const void* caller) {
  const auto get_parent = find<int(Word*)>("PMPI_Comm_get_parent", caller);
  Word parent = 0;
  if (get_parent == nullptr || get_parent(&parent) != 0) return false;
  return parent != interface.no_communicator;
}

}  // namespace

constexpr World kUnknown{.why_not =
                             "its MPI is neither Open MPI nor of MPICH's kin, nor of the standard's binary interface"};
constexpr World kSilent{.why_not = "its MPI does not say which rank it is"};

World look_at_world(const void* caller) {
  const auto interface = interface_of(caller);
  if (!interface) return kUnknown;
  const auto get_rank = find<int(Word, int*)>("PMPI_Comm_rank", caller);
  const auto get_size = find<int(Word, int*)>("PMPI_Comm_size", caller);
  World world{.has_communicator = true, .interface = *interface};
  if (get_rank == nullptr || get_size == nullptr || get_rank(interface->world, &world.rank) != 0 ||
      get_size(interface->world, &world.size) != 0)
    return kSilent;
  if (was_spawned(*interface, caller)) world.why_not = "it was started by MPI_Comm_spawn and has a world of its own";
  return world;
}

World look_at_session(Word session, const void* caller) {
  const auto interface = interface_of(caller);
  if (!interface) return kUnknown;
  const auto get_group = find<int(Word, const char*, Word*)>("PMPI_Group_from_session_pset", caller);
  const auto get_rank = find<int(Word, int*)>("PMPI_Group_rank", caller);
  const auto get_size = find<int(Word, int*)>("PMPI_Group_size", caller);
  const auto free_group = find<int(Word*)>("PMPI_Group_free", caller);
  Word all = 0;
  if (get_group == nullptr || get_rank == nullptr || get_size == nullptr || free_group == nullptr ||
      get_group(session, "mpi://WORLD", &all) != 0)
    return kSilent;
  World world{.interface = *interface};
  const bool knows = get_rank(all, &world.rank) == 0 && get_size(all, &world.size) == 0;
  free_group(&all);
  return knows ? world : kSilent;
}

Word session_in_c(const void* handle, Language language, const void* caller) {
  const auto interface = interface_of(caller);
  if (!interface) return 0;
  if (language == Language::kC && !interface->has_numbers) return *static_cast<const Word*>(handle);
  const int number = *static_cast<const int*>(handle);
  if (interface->has_numbers) return static_cast<std::uint32_t>(number);
  const auto in_c = find_either<Word(int)>("PMPI_Session_f2c", "PMPI_Session_fromint", caller);
  return in_c == nullptr ? 0 : in_c(number);
}

bool is_initialized(const void* caller) {
  int begun = 0, ended = 0;
  const auto initialized = find<int(int*)>("PMPI_Initialized", caller);
  const auto finalized = find<int(int*)>("PMPI_Finalized", caller);
  return initialized != nullptr && initialized(&begun) == 0 && begun != 0 && finalized != nullptr &&
         finalized(&ended) == 0 && ended == 0;
}

}  // namespace idlewave::mpi
