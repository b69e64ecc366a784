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

namespace idlewave::mpi {

inline constexpr int kUnknownRank = -1;
inline constexpr std::int64_t kUnknownSize = -1;

/// Remembers what the library has answered, in a fixed amount of memory, until something is freed. The thread that
/// reports alone, apart from forget().
class alignas(64) Handles {
 public:
  /// A handle of one of the two languages, whose numbers may coincide.
  class Key {
   public:
    constexpr Key() = default;
    constexpr Key(Word handle, bool is_fortran) : handle_(handle), language_(is_fortran ? kFortran : kC) {}
    Word handle() const { return handle_; }
    bool is_fortran() const { return language_ == kFortran; }
    std::size_t home() const {
      return static_cast<std::size_t>((static_cast<std::uint64_t>(handle_) * 0x9e3779b97f4a7c15u) >> 32);
    }
    bool operator==(const Key& other) const { return ((handle_ ^ other.handle_) | (language_ ^ other.language_)) == 0; }

   private:
    static constexpr Word kC = 1, kFortran = 2;  ///< 0: of neither.
    Word handle_ = 0;
    Word language_ = 0;
  };

  /// Before the first question: `caller` is the address that MPI_Init, or MPI_Session_init, goes back to.
  void begin(const void* caller, const BinaryInterface& interface);

  /// Between MPI_Init and MPI_Finalize there is MPI_COMM_WORLD. Else its ranks are those of any open MPI session, which all
  /// have the same processes in the same order.
  void world_begins();
  void world_ends();

  /// Some datatype or communicator is about to be freed: its handle may come again with another meaning. Any thread. Waits
  /// a moment for a question that is being asked.
  void forget() {
    generation_.fetch_add(1);
    if (is_asking_.load()) wait_for_answer();
  }

  /// The same of a communicator. Counted first: a call that begins between the two asks of none that a request names.
  void forget_communicator() {
    freed_communicators_.fetch_add(1);
    forget();
  }

  /// Which handles there are: as it is now, before a call of the program.
  std::uint32_t generation() const { return generation_.load(std::memory_order_relaxed); }
  /// The program's call has returned that began then. The library is asked of no handle if any has been freed since: another
  /// thread may free the one that this call was still busy with.
  void came_back(std::uint32_t from) { generation_at_call_ = from; }

  /// MPI_COMM_WORLD, which can't be freed.
  bool is_world(Key comm) const { return comm == world_ || comm == fortran_world_; }
  std::uint32_t freed_communicators() const { return freed_communicators_.load(std::memory_order_relaxed); }

  /// A communicator or datatype as a wrapper got it.
  template <Form form>
  Key key_of(Word word) const {
    return {narrow(handle_at<form>(word)), is_fortran(form)};
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

  // Not remembered: some nanoseconds each.
  int ranks_of(Key comm) const;     ///< In the group of the calling process; 0: not known.
  int own_rank_in(Key comm) const;  ///< kUnknownRank: not known.
  bool is_intercommunicator(Key comm) const;
  /// The ranks in MPI_COMM_WORLD of a communicator's ranks, in their order; how many. 0 where that is more than `out` has
  /// room for, of an intercommunicator, and where one is not in MPI_COMM_WORLD.
  int world_ranks_of(Key comm, std::span<int> out) const;

 private:
  static constexpr std::size_t kTypes = 256;   ///< That are remembered; a power of two.
  static constexpr std::size_t kPeers = 1024;  ///< The same.

  struct KnownType {
    Key type;
    std::uint32_t generation = 0;  ///< 0: nothing.
    std::int64_t size = 0;
  };
  struct KnownPeer {
    Key comm;
    std::uint32_t generation = 0;
    int rank = 0;
    int world_rank = 0;
  };

  bool is_valid(std::uint32_t generation) const { return generation == generation_.load(std::memory_order_relaxed); }
  /// What else is in the register of an int may be anything.
  Word narrow(Word handle) const {
    return are_numbers_ ? static_cast<Word>(static_cast<std::uint32_t>(handle)) : handle;
  }
  /// While the library is asked.
  class Question {
   public:
    explicit Question(const Handles& handles) : handles_(handles) {
      handles_.is_asking_.store(true);
      may_ask_ = handles_.generation_.load() == handles_.generation_at_call_;
    }
    ~Question() { handles_.is_asking_.store(false, std::memory_order_release); }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    explicit operator bool() const { return may_ask_; }

   private:
    const Handles& handles_;
    bool may_ask_;
  };

  [[gnu::noinline, gnu::cold]] void wait_for_answer() const;
  [[gnu::noinline, gnu::cold]] std::int64_t find_size(Key type);
  [[gnu::noinline, gnu::cold]] int find_world_rank(Key comm, int rank);

  Key world_, fortran_world_;  ///< Of no language while there is none.
  bool are_numbers_ = false;   ///< In C also.
  std::atomic<std::uint32_t> generation_{1};
  std::atomic<std::uint32_t> freed_communicators_{0};
  std::uint32_t generation_at_call_ = 1;
  mutable std::atomic<bool> is_asking_{false};
  KnownType types_[kTypes];
  KnownPeer peers_[kPeers];
  Word world_handle_ = 0;  ///< MPI_COMM_WORLD in C, also where there is none.
};

[[gnu::visibility("hidden")]] extern constinit Handles handles;

}  // namespace idlewave::mpi
