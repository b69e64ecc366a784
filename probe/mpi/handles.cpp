#include "probe/mpi/handles.h"

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "probe/mpi/symbols.h"

namespace idlewave::mpi {
namespace {

constexpr std::size_t kTypes = 256;   ///< That are remembered; a power of two.
constexpr std::size_t kPeers = 1024;  ///< The same.

/// A handle of one of the two languages, whose numbers may coincide.
struct Key {
  Word handle = 0;
  bool is_fortran = false;
  friend bool operator==(const Key&, const Key&) = default;
};

/// Remembered while nothing was freed. Generation 0: nothing.
struct KnownType {
  Key key;
  std::uint32_t generation = 0;
  std::int64_t size = 0;
};
struct KnownPeer {
  Key comm;
  std::uint32_t generation = 0;
  int rank = 0;
  int world_rank = 0;
};

/// Functions of the MPI library; null where it has none of that name.
struct Library {
  int (*size_of_type)(Word, std::int64_t*) = nullptr;
  int (*comm_size)(Word, int*) = nullptr;
  int (*comm_remote_size)(Word, int*) = nullptr;
  int (*comm_rank)(Word, int*) = nullptr;
  int (*comm_test_inter)(Word, int*) = nullptr;
  int (*comm_group)(Word, Word*) = nullptr;
  int (*comm_remote_group)(Word, Word*) = nullptr;
  int (*translate_ranks)(Word, int, const int*, Word, int*) = nullptr;
  int (*group_free)(Word*) = nullptr;
  Word (*type_from_fortran)(int) = nullptr;  ///< Null: handles are the same in both languages.
  Word (*comm_from_fortran)(int) = nullptr;
};

constinit Library library;
constinit Word world = 0;
constinit Word fortran_world = 0;
constinit bool are_ints = false;
constinit KnownType types[kTypes] = {};
constinit KnownPeer peers[kPeers] = {};
constinit std::atomic<std::uint32_t> generation{1};
constinit std::atomic<std::uint32_t> communicators{1};

std::uint32_t generation_now() { return generation.load(std::memory_order_relaxed); }

std::size_t mixed(Word word) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(word) * 0x9e3779b97f4a7c15u) >> 32);
}

/// What else is in the register of an int may be anything.
Word narrow(Word handle) { return are_ints ? static_cast<Word>(static_cast<std::uint32_t>(handle)) : handle; }

Word type_in_c(const Key& key) {
  if (!key.is_fortran || library.type_from_fortran == nullptr) return key.handle;
  return library.type_from_fortran(static_cast<int>(key.handle));
}

Word comm_in_c(const Key& key) {
  if (!key.is_fortran || library.comm_from_fortran == nullptr) return key.handle;
  return library.comm_from_fortran(static_cast<int>(key.handle));
}

bool is_inter(Word comm) {
  int inter = 0;
  return library.comm_test_inter != nullptr && library.comm_test_inter(comm, &inter) == 0 && inter != 0;
}

Word group_of(Word comm) {
  const auto get = is_inter(comm) ? library.comm_remote_group : library.comm_group;
  Word group = 0;
  return get != nullptr && get(comm, &group) == 0 ? group : 0;
}

void free_group(Word group) {
  if (group != 0 && library.group_free != nullptr) library.group_free(&group);
}

[[gnu::noinline, gnu::cold]] std::int64_t find_size(const Key& key) {
  std::int64_t size = -1;
  if (library.size_of_type == nullptr || library.size_of_type(type_in_c(key), &size) != 0) return -1;
  return size >= 0 ? size : -1;
}

[[gnu::noinline, gnu::cold]] int find_world_rank(const Key& comm, int rank) {
  const Word theirs = group_of(comm_in_c(comm));
  const Word all = group_of(world);
  int found = kUnknownRank;
  const bool knows = theirs != 0 && all != 0 && library.translate_ranks != nullptr &&
                     library.translate_ranks(theirs, 1, &rank, all, &found) == 0;
  free_group(theirs);
  free_group(all);
  return knows && found >= 0 ? found : kUnknownRank;
}

}  // namespace

void begin_handles(const void* caller, Word world_in_c) {
  const auto find = [caller](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_next(name, caller));
  };
  find(library.size_of_type, "PMPI_Type_size_x");
  find(library.comm_size, "PMPI_Comm_size");
  find(library.comm_remote_size, "PMPI_Comm_remote_size");
  find(library.comm_rank, "PMPI_Comm_rank");
  find(library.comm_test_inter, "PMPI_Comm_test_inter");
  find(library.comm_group, "PMPI_Comm_group");
  find(library.comm_remote_group, "PMPI_Comm_remote_group");
  find(library.translate_ranks, "PMPI_Group_translate_ranks");
  find(library.group_free, "PMPI_Group_free");
  find(library.type_from_fortran, "PMPI_Type_f2c");
  find(library.comm_from_fortran, "PMPI_Comm_f2c");
  world = fortran_world = world_in_c;
  are_ints = library.comm_from_fortran == nullptr;
  int (*to_fortran)(Word) = nullptr;
  find(to_fortran, "PMPI_Comm_c2f");
  if (!are_ints && to_fortran != nullptr) fortran_world = to_fortran(world);
}

void forget_handles() { generation.fetch_add(1, std::memory_order_relaxed); }

void forget_communicators() {
  forget_handles();
  communicators.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t generation_of_communicators() { return communicators.load(std::memory_order_relaxed); }

bool handles_are_ints() { return are_ints; }

std::int64_t ask_size_of_type(Word type, bool is_fortran) {
  const Key key{narrow(type), is_fortran};
  KnownType& known = types[mixed(key.handle) % kTypes];
  if (known.key == key && known.generation == generation_now()) [[likely]]
    return known.size;
  known = {key, generation_now(), find_size(key)};
  return known.size;
}

int ask_world_rank(Word comm, int rank, bool is_fortran) {
  if (rank < 0) return kUnknownRank;
  const Key key{narrow(comm), is_fortran};
  if (key.handle == (is_fortran ? fortran_world : world)) [[likely]]
    return rank;
  KnownPeer& known = peers[(mixed(key.handle) + static_cast<std::size_t>(rank)) % kPeers];
  if (known.comm == key && known.rank == rank && known.generation == generation_now()) [[likely]]
    return known.world_rank;
  known = {key, generation_now(), rank, find_world_rank(key, rank)};
  return known.world_rank;
}

int ranks_of(Word comm, bool is_fortran) {
  const Word handle = comm_in_c({narrow(comm), is_fortran});
  const auto get = is_inter(handle) ? library.comm_remote_size : library.comm_size;
  int size = 0;
  return get != nullptr && get(handle, &size) == 0 ? size : 0;
}

int world_ranks_of(Word comm, bool is_fortran, std::span<int> out) {
  const Word handle = comm_in_c({narrow(comm), is_fortran});
  const int count = is_inter(handle) ? 0 : ranks_of(comm, is_fortran);
  if (count <= 0 || static_cast<std::size_t>(count) > out.size() || library.translate_ranks == nullptr) return 0;
  const Word theirs = group_of(handle), all = group_of(world);
  bool knows = theirs != 0 && all != 0;
  for (int rank = 0; knows && rank < count; ++rank)
    knows = library.translate_ranks(theirs, 1, &rank, all, &out[static_cast<std::size_t>(rank)]) == 0 &&
            out[static_cast<std::size_t>(rank)] >= 0;
  free_group(theirs);
  free_group(all);
  return knows ? count : 0;
}

int own_rank_in(Word comm, bool is_fortran) {
  int rank = kUnknownRank;
  const Word handle = comm_in_c({narrow(comm), is_fortran});
  return library.comm_rank != nullptr && library.comm_rank(handle, &rank) == 0 ? rank : kUnknownRank;
}

bool is_intercommunicator(Word comm, bool is_fortran) { return is_inter(comm_in_c({narrow(comm), is_fortran})); }

}  // namespace idlewave::mpi
