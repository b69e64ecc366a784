#include "probe/mpi/handles.h"

#include <sched.h>

#include <algorithm>
#include <type_traits>

#include "probe/mpi/open_sessions.h"
#include "probe/mpi/symbols.h"

namespace idlewave::mpi {

constinit Handles handles;
constinit Handles::Shared Handles::shared_;
constinit std::atomic<bool> Handles::are_asking_[1 + shm::kThreadPlaces] = {};

namespace {

using Key = Handles::Key;

/// Functions of the MPI library; null where it has none of that name.
struct Library {
  int (*size_of_type)(Word, std::int64_t*) = nullptr;
  int (*comm_size)(Word, int*) = nullptr;
  int (*comm_rank)(Word, int*) = nullptr;
  int (*comm_test_inter)(Word, int*) = nullptr;
  int (*comm_group)(Word, Word*) = nullptr;
  int (*comm_remote_group)(Word, Word*) = nullptr;
  int (*group_size)(Word, int*) = nullptr;
  int (*translate_ranks)(Word, int, const int*, Word, int*) = nullptr;
  int (*group_free)(Word*) = nullptr;
  int (*group_from_session)(Word, const char*, Word*) = nullptr;
  int (*group_of_window)(Word, Word*) = nullptr;
  int (*topology)(Word, int*) = nullptr;
  int (*dimensions)(Word, int*) = nullptr;
  int (*shift)(Word, int, int, int*, int*) = nullptr;
  int (*graph_count)(Word, int, int*) = nullptr;
  int (*graph_neighbours)(Word, int, int, int*) = nullptr;
  int (*dist_graph_count)(Word, int*, int*, int*) = nullptr;
  int (*dist_graph_neighbours)(Word, int, int*, int*, int, int*, int*) = nullptr;
  int cart = 0, graph = 0, dist_graph = 0;   ///< What `topology` says of a communicator.
  Word (*type_from_fortran)(int) = nullptr;  ///< Null: handles are the same in both languages.
  Word (*comm_from_fortran)(int) = nullptr;
  Word (*group_from_fortran)(int) = nullptr;
  Word (*window_from_fortran)(int) = nullptr;
  int (*comm_to_fortran)(Word) = nullptr;  ///< The same.
};

constinit Library library;

Word in_c(Key key, Word (*from_fortran)(int)) {
  return key.language() == Language::kFortran && from_fortran != nullptr ? from_fortran(static_cast<int>(key.handle()))
                                                                         : key.handle();
}
Word type_in_c(Key key) { return in_c(key, library.type_from_fortran); }
Word comm_in_c(Key key) { return in_c(key, library.comm_from_fortran); }

bool is_inter(Word comm) {
  int inter = 0;
  return library.comm_test_inter != nullptr && library.comm_test_inter(comm, &inter) == 0 && inter != 0;
}

Word group_of(Word comm) {
  const auto get = is_inter(comm) ? library.comm_remote_group : library.comm_group;
  Word group = 0;
  return get != nullptr && get(comm, &group) == 0 ? group : 0;
}

/// Of all processes. `world`: MPI_COMM_WORLD; 0: there is none.
Word group_of_all(Word world) {
  if (world != 0) return group_of(world);
  const Word session = open_sessions.any();
  Word group = 0;
  const bool knows = session != 0 && library.group_from_session != nullptr &&
                     library.group_from_session(session, "mpi://WORLD", &group) == 0;
  return knows ? group : 0;
}

/// In Fortran the rank is read after the call, and a program may have received into the variable that held it.
bool has_rank(Word group, int rank) {
  int size = 0;
  return group != 0 && library.group_size != nullptr && library.group_size(group, &size) == 0 && rank < size;
}

void free_group(Word group) {
  if (group != 0 && library.group_free != nullptr) library.group_free(&group);
}

/// Zeroed memory, of which a thread touches what it uses.
constinit Handles of_threads[shm::kThreadPlaces];

}  // namespace

Handles& handles_of_thread(std::uint32_t place) {
  Handles& its = of_threads[place];
  its.number_ = 1 + place;
  return its;
}

/// Some milliseconds at most: in a handler of the library the question may be waiting for us, or our own thread's.
void Handles::wait_for_answer(const std::atomic<bool>& is_asking) {
  constexpr int kLooks = 1 << 13;
  for (int look = 0; is_asking.load() && look < kLooks; ++look) sched_yield();
}

std::int64_t Handles::find_size(Key type) {
  KnownType& known = types_[type.home() % kTypes];
  const Question question(*this);
  if (!question) return kUnknownSize;
  known = {type, generation_at_call_, kUnknownSize};
  std::int64_t size = 0;
  if (library.size_of_type != nullptr && library.size_of_type(type_in_c(type), &size) == 0 && size >= 0)
    known.size = size;
  return known.size;
}

int Handles::ask_for_world_rank(Key comm, int rank) {
  const Word theirs = group_of(comm_in_c(comm));
  const Word all = group_of_all(shared_.world.handle());
  int found = kUnknownRank;
  const bool knows = all != 0 && has_rank(theirs, rank) && library.translate_ranks != nullptr &&
                     library.translate_ranks(theirs, 1, &rank, all, &found) == 0;
  free_group(theirs);
  free_group(all);
  return knows && found >= 0 ? found : kUnknownRank;
}

bool Handles::find_whether_of_all(Key comm) {
  const Question question(*this);
  if (!question || library.comm_size == nullptr || shared_.world.handle() == 0) return false;
  const Word theirs = comm_in_c(comm);
  int size = 0, all = 0;
  const bool knows = library.comm_size(theirs, &size) == 0 && library.comm_size(shared_.world.handle(), &all) == 0;
  KnownComm& known = comms_[comm.home() % kComms];
  known = {comm, generation_at_call_, knows && size == all && !is_inter(theirs)};
  return known.is_of_all;
}

int Handles::find_world_rank(Key comm, int rank) {
  KnownPeer& known = peers_[(comm.home() + static_cast<std::size_t>(rank)) % kPeers];
  const Question question(*this);
  if (!question) return kUnknownRank;
  known = {comm, generation_at_call_, rank, kUnknownRank};
  return known.world_rank = ask_for_world_rank(comm, rank);
}

int Handles::find_world_rank_for_thread(KnownPeer& known, Key comm, int rank) {
  const Question question(*this, shared_.freed_communicators, communicators_at_call_);
  if (!question) return kUnknownRank;
  known = {comm, 1 + communicators_at_call_, rank, kUnknownRank};
  return known.world_rank = ask_for_world_rank(comm, rank);
}

void Handles::begin(const void* caller, const BinaryInterface& interface) {
  const auto find = [caller](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_next(name, caller));
  };
  find(library.size_of_type, "PMPI_Type_size_x");
  find(library.comm_size, "PMPI_Comm_size");
  find(library.comm_rank, "PMPI_Comm_rank");
  find(library.comm_test_inter, "PMPI_Comm_test_inter");
  find(library.comm_group, "PMPI_Comm_group");
  find(library.comm_remote_group, "PMPI_Comm_remote_group");
  find(library.group_size, "PMPI_Group_size");
  find(library.translate_ranks, "PMPI_Group_translate_ranks");
  find(library.group_free, "PMPI_Group_free");
  find(library.group_of_window, "PMPI_Win_get_group");
  find(library.topology, "PMPI_Topo_test");
  find(library.dimensions, "PMPI_Cartdim_get");
  find(library.shift, "PMPI_Cart_shift");
  find(library.graph_count, "PMPI_Graph_neighbors_count");
  find(library.graph_neighbours, "PMPI_Graph_neighbors");
  find(library.dist_graph_count, "PMPI_Dist_graph_neighbors_count");
  find(library.dist_graph_neighbours, "PMPI_Dist_graph_neighbors");
  find(library.group_from_session, "PMPI_Group_from_session_pset");
  shared_.are_numbers = interface.has_numbers;
  shared_.world_handle = interface.world;
  library.cart = interface.cart;
  library.graph = interface.graph;
  library.dist_graph = interface.dist_graph;
  if (!interface.has_numbers) {  // else the library may have such functions all the same
    library.type_from_fortran = find_either<Word(int)>("PMPI_Type_f2c", "PMPI_Type_fromint", caller);
    library.comm_from_fortran = find_either<Word(int)>("PMPI_Comm_f2c", "PMPI_Comm_fromint", caller);
    library.group_from_fortran = find_either<Word(int)>("PMPI_Group_f2c", "PMPI_Group_fromint", caller);
    library.window_from_fortran = find_either<Word(int)>("PMPI_Win_f2c", "PMPI_Win_fromint", caller);
    library.comm_to_fortran = find_either<int(Word)>("PMPI_Comm_c2f", "PMPI_Comm_toint", caller);
  }
  handles.call_began(generation());
}

void Handles::world_begins() {
  const Word world = shared_.world_handle;
  shared_.world = Key(world, Language::kC);
  shared_.fortran_world =
      Key(library.comm_to_fortran == nullptr ? world : library.comm_to_fortran(world), Language::kFortran);
}

void Handles::world_ends() {
  forget();
  shared_.world = shared_.fortran_world = Key();
}

int Handles::ranks_of(Key comm) const {
  int size = 0;
  const Question question(*this);
  if (!question) return 0;
  return library.comm_size != nullptr && library.comm_size(comm_in_c(comm), &size) == 0 ? size : 0;
}

int Handles::own_rank_in(Key comm) const {
  int rank = kUnknownRank;
  const Question question(*this);
  if (!question) return kUnknownRank;
  return library.comm_rank != nullptr && library.comm_rank(comm_in_c(comm), &rank) == 0 ? rank : kUnknownRank;
}

int Handles::world_ranks_of(Key comm, std::span<int> out) const {
  const bool has_two_groups = is_intercommunicator(comm);
  const Question question(*this);
  if (!question || has_two_groups) return 0;
  const Word theirs = group_of(comm_in_c(comm));
  const int count = translate(theirs, out);
  free_group(theirs);
  return std::max(count, 0);
}

int Handles::world_ranks_of_group(Key group, std::span<int> out) const {
  const Question question(*this);
  return question ? translate(in_c(group, library.group_from_fortran), out) : -1;
}

int Handles::world_ranks_of_window(Key window, std::span<int> out) const {
  const Question question(*this);
  Word theirs = 0;
  const bool knows = question && library.group_of_window != nullptr &&
                     library.group_of_window(in_c(window, library.window_from_fortran), &theirs) == 0;
  const int count = knows ? translate(theirs, out) : -1;
  free_group(theirs);
  return count;
}

/// How many they are; below 0 where that is more than there is room for, or one is not among all.
int Handles::translate(Word group, std::span<int> out) {
  int count = -1;
  if (group == 0 || library.group_size == nullptr || library.translate_ranks == nullptr) return -1;
  if (library.group_size(group, &count) != 0 || static_cast<std::size_t>(count) > out.size()) return -1;
  const Word all = group_of_all(shared_.world.handle());
  bool knows = all != 0;
  for (int rank = 0; knows && rank < count; ++rank) {
    int& found = out[static_cast<std::size_t>(rank)];
    knows = library.translate_ranks(group, 1, &rank, all, &found) == 0 && found >= 0;
  }
  free_group(all);
  return knows ? count : -1;
}

namespace {

/// The same as sources and as targets: one on each side in each dimension, or MPI_PROC_NULL.
int cart_neighbours(Word comm, std::span<int> out) {
  int dimensions = 0;
  if (library.dimensions == nullptr || library.shift == nullptr || library.dimensions(comm, &dimensions) != 0)
    return -1;
  if (2 * static_cast<std::size_t>(dimensions) > out.size()) return -1;
  for (int i = 0; i < dimensions; ++i) {
    const auto at = 2 * static_cast<std::size_t>(i);
    if (library.shift(comm, i, 1, &out[at], &out[at + 1]) != 0) return -1;
  }
  return 2 * dimensions;
}

int graph_neighbours(Word comm, int rank, std::span<int> out) {
  int count = 0;
  if (library.graph_count == nullptr || library.graph_neighbours == nullptr) return -1;
  if (library.graph_count(comm, rank, &count) != 0 || static_cast<std::size_t>(count) > out.size()) return -1;
  return library.graph_neighbours(comm, rank, count, out.data()) == 0 ? count : -1;
}

int dist_graph_neighbours(Word comm, std::span<int> sources, std::span<int> targets, int& target_count) {
  static int weights[2][shm::kPatternRanks];
  int count = 0, is_weighted = 0;
  if (library.dist_graph_count == nullptr || library.dist_graph_neighbours == nullptr) return -1;
  if (library.dist_graph_count(comm, &count, &target_count, &is_weighted) != 0) return -1;
  const auto most = static_cast<std::size_t>(std::max(count, target_count));
  if (most > std::min({sources.size(), targets.size(), std::size(weights[0])})) return -1;
  return library.dist_graph_neighbours(comm, count, sources.data(), weights[0], target_count, targets.data(),
                                       weights[1]) == 0
             ? count
             : -1;
}

}  // namespace

/// As ranks of the communicator; `targets` is left alone where they are the sources. How many sources; below 0: not known.
int Handles::neighbours_of(Key comm, std::span<int> sources, std::span<int> targets, int& target_count) const {
  const int own = own_rank_in(comm);
  const Question question(*this);
  const Word its = comm_in_c(comm);
  int topology = 0;
  if (!question || own < 0 || library.topology == nullptr || library.topology(its, &topology) != 0) return -1;
  target_count = 0;
  if (topology == library.cart) return cart_neighbours(its, sources);
  if (topology == library.graph) return graph_neighbours(its, own, sources);
  return topology == library.dist_graph ? dist_graph_neighbours(its, sources, targets, target_count) : -1;
}

int Handles::sources_of(Key comm, std::span<int> out, bool& all_are_sources) {
  static int targets[shm::kPatternRanks];
  int target_count = 0;
  const int count = neighbours_of(comm, out, targets, target_count);
  if (count < 0) return count;
  const auto sources = out.first(static_cast<std::size_t>(count));
  all_are_sources = std::ranges::all_of(std::span(targets, static_cast<std::size_t>(target_count)), [&](int target) {
    return target < 0 || std::ranges::find(sources, target) != sources.end();
  });
  int known = 0;
  for (const int source : sources) {
    if (source < 0) continue;
    const int in_world = world_rank(comm, source);
    if (in_world < 0) return -1;
    out[static_cast<std::size_t>(known++)] = in_world;
  }
  return known;
}

bool Handles::is_intercommunicator(Key comm) const {
  const Question question(*this);
  return question && is_inter(comm_in_c(comm));
}

}  // namespace idlewave::mpi
