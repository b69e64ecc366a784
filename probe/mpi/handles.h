#pragma once
// What the program's handles stand for: how large its datatypes are, and who of MPI_COMM_WORLD the ranks of its
// communicators are. Asked of the MPI library by the names for tools (PMPI_), after the program's own call with that
// handle has succeeded, so that none is asked for that the library would refuse; all of it is local in MPI.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "probe/mpi/binary_interface.h"
#include "probe/mpi/roles.h"
#include "probe/shm/layout.h"

namespace idlewave::mpi {

inline constexpr int kUnknownRank = -1;
inline constexpr std::int64_t kUnknownSize = -1;

/// Remembers what the library has answered, in a fixed amount of memory, until something is freed. One for each thread
/// that asks; what is static concerns all of them.
class alignas(64) Handles {
 public:
  /// A handle of one of the two languages, whose numbers may coincide: one word, which is that of C itself, and for the ints of
  /// Fortran no address.
  class Key {
   public:
    constexpr Key() = default;
    constexpr Key(Word handle, Language language)
        : word_(language == Language::kC ? static_cast<std::uint64_t>(handle)
                                         : kOfFortran | static_cast<std::uint32_t>(handle)) {}
    bool is_none() const { return word_ == 0; }
    Word handle() const {
      return language() == Language::kC ? static_cast<Word>(word_) : static_cast<std::int32_t>(word_);
    }
    Language language() const { return word_ >> 32 == kOfFortran >> 32 ? Language::kFortran : Language::kC; }
    std::size_t home() const { return static_cast<std::size_t>((word_ * 0x9e3779b97f4a7c15u) >> 32); }
    bool operator==(const Key&) const = default;

   private:
    static constexpr std::uint64_t kOfFortran = std::uint64_t{0x8000'0001} << 32;

    std::uint64_t word_ = 0;  ///< 0: none.
  };

  /// Before the first question: `caller` is the address that MPI_Init, or MPI_Session_init, goes back to.
  static void begin(const void* caller, const BinaryInterface& interface);

  /// Between MPI_Init and MPI_Finalize there is MPI_COMM_WORLD. Else its ranks are those of any open MPI session, which all
  /// have the same processes in the same order.
  static void world_begins();
  static void world_ends();

  /// Some datatype or communicator is about to be freed: its handle may come again with another meaning. Any thread. Waits
  /// a moment for questions that are being asked.
  static void forget() {
    shared_.generation.fetch_add(1);
    for (const std::atomic<bool>& is_asking : are_asking_)
      if (is_asking.load()) wait_for_answer(is_asking);
  }

  /// The same of a communicator. Counted first: a call that begins between the two asks of none that a request names.
  static void forget_communicator() {
    shared_.freed_communicators.fetch_add(1);
    forget();
  }

  /// Which handles there are: as it is now, before a call of the program.
  static std::uint32_t generation() { return shared_.generation.load(std::memory_order_relaxed); }
  /// The program's call that is noted has begun then. The library is asked of no handle if any has been freed since: another
  /// thread may free the one that this call was still busy with.
  void call_began(std::uint32_t then) { generation_at_call_ = then; }

  /// MPI_COMM_WORLD, which can't be freed.
  static bool is_world(Key comm) { return comm == shared_.world || comm == shared_.fortran_world; }
  /// A communicator of as many ranks, as a library has its own for; no intercommunicator.
  bool is_of_all(Key comm) {
    if (is_world(comm)) return true;
    const KnownComm& known = comms_[comm.home() % kComms];
    return known.comm == comm && is_valid(known.generation) ? known.is_of_all : find_whether_of_all(comm);
  }
  static std::uint32_t freed_communicators() { return shared_.freed_communicators.load(std::memory_order_relaxed); }

  /// A communicator or datatype as a wrapper got it.
  template <Form form>
  static Key key_of(Word word) {
    return {narrow(handle_at<form>(word)), language_of(form)};
  }

  /// Bytes of data in one item; kUnknownSize: the library does not say.
  std::int64_t size_of(Key type) {
    const KnownType& known = types_[type.home() % kTypes];
    return known.type == type && is_valid(known.generation) ? known.size : find_size(type);
  }

  /// The rank in MPI_COMM_WORLD of `rank` of a communicator; of an intercommunicator in its remote group. kUnknownRank
  /// for MPI_ANY_SOURCE, MPI_PROC_NULL, and processes that are not in MPI_COMM_WORLD.
  int world_rank(Key comm, int rank) {
    if (rank < 0) return kUnknownRank;
    if (is_world(comm)) return rank;
    const KnownPeer& known = peers_[(comm.home() + static_cast<std::size_t>(rank)) % kPeers];
    const bool is_it = known.comm == comm && known.rank == rank && is_valid(known.generation);
    return is_it ? known.world_rank : find_world_rank(comm, rank);
  }

  /// The same for a thread beside the one that reports, which also asks where only types have been freed since its call
  /// began: where several call MPI, some may free theirs all the time.
  int world_rank_for_thread(Key comm, int rank) {
    if (rank < 0) return kUnknownRank;
    if (is_world(comm)) return rank;
    KnownPeer& known = peers_[(comm.home() + static_cast<std::size_t>(rank)) % kPeers];
    const bool is_it = known.comm == comm && known.rank == rank && known.generation == 1 + freed_communicators();
    return is_it ? known.world_rank : find_world_rank_for_thread(known, comm, rank);
  }
  /// Before such a thread's call.
  void thread_calls() {
    generation_at_call_ = generation();
    communicators_at_call_ = freed_communicators();
  }

  // Not remembered: some nanoseconds each.
  int ranks_of(Key comm) const;     ///< In the group of the calling process; 0: not known.
  int own_rank_in(Key comm) const;  ///< kUnknownRank: not known.
  bool is_intercommunicator(Key comm) const;
  /// The ranks in MPI_COMM_WORLD of a communicator's ranks, in their order; how many. 0 where that is more than `out` has
  /// room for, of an intercommunicator, and where one is not in MPI_COMM_WORLD.
  int world_ranks_of(Key comm, std::span<int> out) const;
  /// The same of a group, and of that of a window; below 0 where it can't be said.
  int world_ranks_of_group(Key group, std::span<int> out) const;
  int world_ranks_of_window(Key window, std::span<int> out) const;
  /// Those of a communicator with a topology that send to this rank in collectives of neighbours, with their multiplicity and
  /// without MPI_PROC_NULL; below 0 where that can't be said. `all_are_sources`: nobody else gets anything from this rank.
  int sources_of(Key comm, std::span<int> out, bool& all_are_sources);

 private:
  static constexpr std::size_t kTypes = 256;   ///< That are remembered; a power of two.
  static constexpr std::size_t kPeers = 1024;  ///< The same.
  static constexpr std::size_t kComms = 16;    ///< The same.

  struct KnownType {
    Key type;
    std::uint32_t generation = 0;  ///< 0: nothing.
    std::int64_t size = 0;
  };
  struct KnownPeer {
    Key comm;
    /// 0: nothing. Of world_rank_for_thread: so many communicators had been freed, and 1.
    std::uint32_t generation = 0;
    int rank = 0;
    int world_rank = 0;
  };

  struct KnownComm {
    Key comm;
    std::uint32_t generation = 0;
    bool is_of_all = false;
  };

  static bool is_valid(std::uint32_t generation) {
    return generation == shared_.generation.load(std::memory_order_relaxed);
  }
  /// What else is in the register of an int may be anything.
  static Word narrow(Word handle) {
    return shared_.are_numbers ? static_cast<Word>(static_cast<std::uint32_t>(handle)) : handle;
  }
  /// While the library is asked.
  class Question {
   public:
    explicit Question(const Handles& handles) : Question(handles, shared_.generation, handles.generation_at_call_) {}
    /// Of communicators alone.
    Question(const Handles& handles, const std::atomic<std::uint32_t>& freed, std::uint32_t freed_at_call)
        : is_asking_(are_asking_[handles.number_]) {
      is_asking_.store(true);
      may_ask_ = freed.load() == freed_at_call;
    }
    ~Question() { is_asking_.store(false, std::memory_order_release); }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    explicit operator bool() const { return may_ask_; }

   private:
    std::atomic<bool>& is_asking_;
    bool may_ask_;
  };

  [[gnu::noinline, gnu::cold]] static void wait_for_answer(const std::atomic<bool>& is_asking);
  [[gnu::noinline, gnu::cold]] std::int64_t find_size(Key type);
  [[gnu::noinline, gnu::cold]] bool find_whether_of_all(Key comm);
  [[gnu::noinline, gnu::cold]] int find_world_rank(Key comm, int rank);
  [[gnu::noinline, gnu::cold]] int find_world_rank_for_thread(KnownPeer& known, Key comm, int rank);
  static int ask_for_world_rank(Key comm, int rank);
  static int translate(Word group, std::span<int> out);
  int neighbours_of(Key comm, std::span<int> sources, std::span<int> targets, int& target_count) const;

  /// What every call looks at, in one cache line.
  struct alignas(64) Shared {
    Key world, fortran_world;  ///< None while there is none.
    Word world_handle = 0;     ///< MPI_COMM_WORLD in C, also where there is none.
    bool are_numbers = false;  ///< In C also.
    std::atomic<std::uint32_t> generation{1};
    std::atomic<std::uint32_t> freed_communicators{0};
  };
  static constinit Shared shared_;
  static constinit std::atomic<bool> are_asking_[1 + shm::kThreadPlaces];  ///< By number.

  friend Handles& handles_of_thread(std::uint32_t place);
  std::uint32_t number_ = 0;
  std::uint32_t generation_at_call_ = 0;
  std::uint32_t communicators_at_call_ = 0;
  KnownType types_[kTypes];
  KnownPeer peers_[kPeers];
  KnownComm comms_[kComms];
};

/// Of the thread that reports.
[[gnu::visibility("hidden")]] extern constinit Handles handles;
/// Of the one that has this place among the others (client/thread_lanes.h).
Handles& handles_of_thread(std::uint32_t place);

}  // namespace idlewave::mpi
