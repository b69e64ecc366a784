#pragma once
// What the program's messages say about whom this rank waits for: the wrappers tell every call that has to do with one,
// and at the end of a step the client hears it as if the program had said it (idlewave_partners).
//
// Of the thread that reports alone. Everything is noted after the call of the library has succeeded, but for the handles
// of requests, which the library overwrites.

#include <atomic>
#include <cstdint>
#include <optional>

#include "probe/mpi/call_sums.h"
#include "probe/mpi/eager_limits.h"
#include "probe/mpi/habits/wait_learner.h"
#include "probe/mpi/handles.h"
#include "probe/mpi/partners_of_call.h"
#include "probe/mpi/request_table.h"
#include "probe/mpi/roles.h"
#include "probe/mpi/windows.h"

namespace idlewave::mpi {

/// When a send is done.
enum class SendMode : std::uint8_t { kStandard, kSynchronous, kBuffered };

/// What a rank has to do with a group in a collective. kFromNeighboursPerhaps: it may wait for those as well that get
/// something from it.
enum class Part : std::uint8_t {
  kAll,
  kFromRoot,
  kToRoot,
  kFromLower,
  kFromNeighbours,
  kFromNeighboursPerhaps,
  kFence
};

/// As a wrapper got it, and who that is.
struct Peer {
  Handles::Key comm;
  int rank = 0;
  int world_rank = kUnknownRank;  ///< In MPI_COMM_WORLD.
};

/// Handles of requests as a call got them, one or the first of an array, in the language of the program.
struct Requests {
  const void* at = nullptr;
  Language language = Language::kC;
};

class Messages {
 public:
  void begin(const void* caller, const BinaryInterface& interface, wire::Rank rank, wire::Rank world_size);

  void send(SendMode mode, Partner to, std::int64_t bytes);
  /// MPI_Send has taken so long.
  void sent(Partner to, std::int64_t bytes, std::int64_t ns) {
    if (to.side == Side::kTo && bytes > 0) limits_.blocked(to.rank, static_cast<std::uint64_t>(bytes), ns);
  }
  /// `status`: as the call got it, to find out who has sent what could come from anybody; 0 where there is none.
  void receive(const Peer& from, std::int64_t bytes, Word status);
  [[gnu::always_inline]] void start_send(SendMode mode, Partner to, std::int64_t bytes, Requests request) {
    learner_.post();
    start_posted_send(mode, to, bytes, request);
  }
  [[gnu::always_inline]] void start_receive(const Peer& from, std::int64_t bytes, Requests request) {
    if (bytes > 0 || from.rank < 0 || from.world_rank < 0) [[unlikely]]
      return start_receive_with_care(from, bytes, request);
    start_receive_of_known(from.world_rank, request);
  }
  [[gnu::cold]] void make_send(SendMode mode, Partner to, std::int64_t bytes, Requests request);
  /// Of which is known what it sends, and not when it is over.
  [[gnu::cold]] void make_partitioned_send(Partner to, std::int64_t bytes, Requests request);
  void make_receive(const Peer& from, Requests request);
  /// A request of which nobody knows whom it waits for.
  void start_unknown(Requests request, bool is_persistent);
  /// Persistent ones. What they send is counted in `sums` by its receiver.
  void start(Requests requests, int count, CallSums& sums);
  void cancel(Requests request);
  void collective(Handles::Key comm, Part part, int root);
  /// Of neighbours, to each of which so much goes; below 0: not known.
  static Part part_of_neighbours(std::int64_t bytes) {
    const bool is_eager = bytes >= 0 && bytes <= static_cast<std::int64_t>(EagerLimits::kSurelyEager);
    return is_eager ? Part::kFromNeighbours : Part::kFromNeighboursPerhaps;
  }
  /// One that is waited for later: nonblocking, or persistent.
  void start_collective(Handles::Key comm, Part part, int root, Requests request, bool is_persistent);
  /// One-sided: this rank's memory is open to a group, or it begins to access that of one.
  void open_window(Handles::Key window, Handles::Key origins);
  void start_access(Handles::Key window, Handles::Key targets);
  /// The access is over, and those whose memory it was are told so; all that was let in have told so.
  void complete_access(Handles::Key window);
  void close_window(Handles::Key window);
  /// MPI_Win_fence: all of the window's group.
  void fence(Handles::Key window);
  /// By rendezvous, so far; else it makes no difference how large a receive is.
  bool sends_have_waited() const { return sends_have_waited_; }
  void wait_unknown() {
    say_unknown();
    learner_.wait_unknown();
  }
  /// Of the call that is over, where calls are to say it; before step().
  wire::CallPartners take_partners() { return calls_say_partners_ ? partners_of_call_.take() : wire::CallPartners(); }

  /// For send() and its kin, which know whether the send waits for it: kTo, unless there is nobody or it is not known who.
  static Partner receiver(const Peer& to) {
    if (to.rank < 0) return {0, Side::kNobody};
    return to.world_rank < 0 ? Partner{} : Partner{to.world_rank, Side::kTo};
  }

  /// Before a call that may complete some of these; null: that is the library's to refuse.
  void save(Requests requests, int count) {
    saved_of_ = requests;
    saved_ = count < 0 || requests.at == nullptr ? 0 : count > kMostSaved ? kMostSaved : count;
    if (are_numbers(requests.language))
      for (int i = 0; i < saved_; ++i) handles_[i] = handle_of(static_cast<const std::uint32_t*>(requests.at)[i]);
    else
      for (int i = 0; i < saved_; ++i) handles_[i] = handle_of(static_cast<const std::uint64_t*>(requests.at)[i]);
  }
  /// Some of them are over that had not been, as it seems before they are told by complete().
  bool has_completed_any();
  /// It has completed that of place `i`, of which the status stands at `at`, as of status_at().
  [[gnu::always_inline]] void complete(int i, Word statuses, int at, Language language) {
    if (i < 0 || i >= saved_) [[unlikely]]
      return complete_unknown(i);
    RequestTable::Request* const request = requests_.find(handles_[i]);
    if (request == nullptr) return may_be_blind() ? complete_unknown(i) : void();
    if (!request->is_plain_receive() || calls_say_partners_) [[unlikely]]
      return complete_with_care(*request, statuses, at, language);
    const wire::Rank from = request->partner.rank;
    requests_.erase(request);
    learner_.wait({from, Side::kFrom});
  }
  /// In an array of statuses, or of one; null where the program wants none.
  const void* status_at(Word statuses, int i, Language language) const {
    const auto* const first = reinterpret_cast<const char*>(statuses);
    const bool is_ignored = language == Language::kC ? statuses == interface_.ignore : !is_read_by_fortran(first);
    return is_ignored ? nullptr : first + static_cast<std::size_t>(i) * interface_.status_bytes;
  }

  /// A step begins. Whether calls are to say with whom they are.
  bool step(wire::Step number);
  /// Another thread has called MPI, or a signal handler within a call: what is waited for may have been started there.
  void note_unseen_start() { others_start_.store(true, std::memory_order_relaxed); }

 private:
  static constexpr int kMostSaved = 4096;  ///< Requests of one call.

  /// As handles of that language are; else they are words.
  bool are_numbers(Language language) const { return language == Language::kFortran || interface_.has_numbers; }
  /// Never 0. Numbers of one language and addresses of the other don't meet.
  std::uint64_t handle_at(Requests requests, int i) const {
    if (are_numbers(requests.language)) return handle_of(static_cast<const std::uint32_t*>(requests.at)[i]);
    return handle_of(static_cast<const std::uint64_t*>(requests.at)[i]);
  }
  static std::uint64_t handle_of(std::uint64_t request) { return request + 1; }
  static bool is_read_by_fortran(const void* status);
  Requests behind(Requests requests, int i) const;
  Word handle_in_c(Requests request) const;
  Partner sender(const Peer& from) const {
    if (from.rank < 0) [[unlikely]]
      return {0, from.rank == interface_.any_source ? Side::kAnySource : Side::kNobody};
    return from.world_rank < 0 ? Partner{} : Partner{from.world_rank, Side::kFrom};
  }
  Partner source_in(const void* status, Peer peer) const;
  Partner source_of(const RequestTable::Request& request, const void* status) const;
  Side side_of_send(SendMode mode, wire::Rank to, std::int64_t bytes, bool is_persistent = false);
  bool is_awaited(Partner from, std::int64_t bytes) const;
  void note(Partner partner);
  void say_sent(Partner to) {
    if (calls_say_partners_) [[unlikely]]
      say_whom_sent(to);
  }
  [[gnu::cold]] void say_whom_sent(Partner to);
  void say_unknown() {
    if (calls_say_partners_) partners_of_call_.wait_for({});
  }
  RequestTable::Request& put(std::uint64_t handle, Partner partner = {}) {
    RequestTable::Request* const place = requests_.put(handle, partner);
    return place != nullptr ? *place : lose();
  }
  [[gnu::noinline, gnu::cold]] RequestTable::Request& lose();
  [[gnu::cold]] RequestTable::Request& put_send(Partner to, std::int64_t bytes, Requests request);
  /// One that need not be waited for. Whatever had the handle before is over.
  void forget(std::uint64_t handle) {
    if (RequestTable::Request* const before = requests_.find(handle)) [[unlikely]]
      requests_.erase(before);
  }
  void start_posted_send(SendMode mode, Partner to, std::int64_t bytes, Requests request);
  void start_posted_send_with_care(SendMode mode, Partner to, std::int64_t bytes, Requests request);
  void start_receive_of_known(wire::Rank from, Requests request);
  void start_receive_with_care(const Peer& from, std::int64_t bytes, Requests request);
  static void remember_communicator(RequestTable::Request& request, Handles::Key comm);
  void look_at_send(wire::Rank to, std::int64_t bytes, Requests request, bool is_persistent = false);
  void complete_with_care(RequestTable::Request& request, Word statuses, int at, Language language);
  void complete_unknown(int i);
  /// Some of the requests that are not known may be of those that were not seen.
  bool may_be_blind() const { return may_be_blind_ || others_start_.load(std::memory_order_relaxed); }
  static std::uint64_t key_of(Handles::Key comm, Part part);
  Partner partner_in(Handles::Key comm, Part part, int root) const;
  bool is_of_all(Handles::Key comm, Part part) const;
  std::optional<habits::WaitLearner::Group> find_group(Handles::Key comm, Part part) const;
  std::optional<habits::WaitLearner::Group> find_neighbours(Handles::Key comm, Part part) const;
  std::optional<habits::WaitLearner::Group> find_group_of_window(Handles::Key window) const;
  void tell_group(const Windows::Group& group);
  void wait_for_group(const Windows::Group& group);

  BinaryInterface interface_;
  wire::Rank rank_ = 0, world_size_ = 0;
  wire::Step step_ = 0;  ///< That goes on.
  Requests saved_of_;    ///< Of the latest save().
  int saved_ = 0;
  bool sends_have_waited_ = false;
  bool may_be_blind_ = false;        ///< Some requests found no room.
  bool calls_say_partners_ = false;  ///< The latest steps had more waits than can be said of steps.
  std::atomic<bool> others_start_{false};
  EagerLimits limits_;
  RequestTable requests_;
  habits::WaitLearner learner_;
  RequestTable::Request lost_;  ///< One that found no room.
  std::uint64_t handles_[kMostSaved] = {};
  PartnersOfCall partners_of_call_;  ///< Where it moves nothing that every call needs.
};
[[gnu::visibility("hidden")]] extern constinit Messages messages;

}  // namespace idlewave::mpi
