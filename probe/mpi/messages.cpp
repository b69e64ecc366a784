#include "probe/mpi/messages.h"

#include <idlewave/probe.h>
#include <string.h>

#include "probe/mpi/symbols.h"

namespace idlewave::mpi {

constinit Messages messages;

namespace {

struct Library {
  int (*request_get_status)(Word, int*, void*) = nullptr;
  Word (*request_from_fortran)(int) = nullptr;  ///< Null: handles are the same in both languages.
  /// Where Fortran's MPI_STATUS_IGNORE and its kin are.
  const void* const* fortran_ignores[4] = {};
};
constinit Library library;

}  // namespace

/// The last two are of libraries with a descriptor of their own for mpi_f08.
bool Messages::is_read_by_fortran(const void* status) {
  if (library.fortran_ignores[0] == nullptr || library.fortran_ignores[1] == nullptr) return false;
  for (const void* const* const ignored : library.fortran_ignores)
    if (ignored != nullptr && *ignored == status) return false;
  return true;
}

/// Of all collectives with which this rank has the same part in the same group.
std::uint64_t Messages::key_of(Handles::Key comm, Part part) {
  const auto freed = std::uint64_t{handles.freed_communicators()} << 8;
  const std::uint64_t rest =
      freed | static_cast<std::uint64_t>(part) << 1 | static_cast<std::uint64_t>(comm.language());
  return habits::WaitPatterns::mix(static_cast<std::uint64_t>(comm.handle()) + habits::WaitPatterns::mix(rest + 1)) | 1;
}

void Messages::begin(const void* caller, const BinaryInterface& interface, wire::Rank rank, wire::Rank world_size) {
  interface_ = interface;
  rank_ = rank;
  partners_of_call_ = PartnersOfCall(rank);
  world_size_ = world_size;
  step_ = wire::kNoStep;
  library.request_get_status =
      reinterpret_cast<int (*)(Word, int*, void*)>(find_next("PMPI_Request_get_status", caller));
  if (!interface.has_numbers)
    library.request_from_fortran = find_either<Word(int)>("PMPI_Request_f2c", "PMPI_Request_fromint", caller);
  const char* const names[] = {"MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_F08_STATUS_IGNORE",
                               "MPI_F08_STATUSES_IGNORE"};
  for (int i = 0; i < 4; ++i)
    library.fortran_ignores[i] = static_cast<const void* const*>(find_variable(names[i], caller));
}

/// As if the array began at `i`.
Requests Messages::behind(Requests requests, int i) const {
  const std::size_t size = are_numbers(requests.language) ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
  requests.at = static_cast<const char*>(requests.at) + static_cast<std::size_t>(i) * size;
  return requests;
}

/// By what is known now.
Side Messages::side_of_send(SendMode mode, wire::Rank to, std::int64_t bytes, bool is_persistent) {
  if (mode != SendMode::kStandard) return mode == SendMode::kBuffered ? Side::kTo : Side::kToWaiting;
  if (bytes < 0) return Side::kUnknown;
  switch (limits_.of(to, static_cast<std::uint64_t>(bytes), is_persistent)) {
    case Protocol::kEager: return Side::kTo;
    case Protocol::kRendezvous: sends_have_waited_ = true; return Side::kToWaiting;
    case Protocol::kUnknown: break;
  }
  return Side::kToPerhaps;
}

/// Its sender waits for it to begin.
bool Messages::is_awaited(Partner from, std::int64_t bytes) const {
  return from.side == Side::kFrom && bytes > 0 &&
         limits_.of(from.rank, static_cast<std::uint64_t>(bytes)) == Protocol::kRendezvous;
}

/// Something with that partner is over.
void Messages::note(Partner partner) {
  if (calls_say_partners_) [[unlikely]]
    partners_of_call_.wait_for(partner);
  switch (partner.side) {
    case Side::kFrom:
    case Side::kToWaiting:
    case Side::kToPerhaps: return learner_.wait(partner);
    case Side::kTo: return learner_.send(partner.rank);
    case Side::kNobody: return;
    case Side::kGroup: return;  // It is told by its key.
    case Side::kAnySource:
    case Side::kUnknown: return learner_.wait_unknown();
  }
}

void Messages::say_whom_sent(Partner to) {
  const bool is_known = to.side == Side::kTo || to.side == Side::kToWaiting || to.side == Side::kToPerhaps;
  if (is_known)
    partners_of_call_.send_to(to.rank);
  else
    partners_of_call_.wait_for(to);
}

RequestTable::Request& Messages::lose() {
  may_be_blind_ = true;
  return lost_ = {};
}

void Messages::send(SendMode mode, Partner to, std::int64_t bytes) {
  learner_.post();
  say_sent(to);
  if (to.side == Side::kTo) to.side = side_of_send(mode, to.rank, bytes);
  note(to);
}

void Messages::receive(const Peer& from, std::int64_t bytes, Word status) {
  Partner partner = sender(from);
  if (partner.side == Side::kAnySource) partner = source_in(status_at(status, 0, from.comm.language()), from);
  if (is_awaited(partner, bytes)) learner_.post();
  note(partner);
}

void Messages::start_posted_send(SendMode mode, Partner to, std::int64_t bytes, Requests request) {
  const bool is_plain = to.side == Side::kTo && mode == SendMode::kStandard && EagerLimits::is_surely_eager(bytes);
  if (!is_plain || calls_say_partners_) [[unlikely]]
    return start_posted_send_with_care(mode, to, bytes, request);
  learner_.send(to.rank);
  forget(handle_at(request, 0));
}

void Messages::start_posted_send_with_care(SendMode mode, Partner to, std::int64_t bytes, Requests request) {
  say_sent(to);
  if (to.side == Side::kTo) {
    if (mode == SendMode::kStandard) look_at_send(to.rank, bytes, request);
    to.side = side_of_send(mode, to.rank, bytes);
  }
  const std::uint64_t handle = handle_at(request, 0);
  if (to.side == Side::kTo) learner_.send(to.rank);
  if (to.side == Side::kTo || to.side == Side::kNobody)
    forget(handle);
  else
    put(handle, to);
}

void Messages::start_receive_of_known(wire::Rank from, Requests request) {
  put(handle_at(request, 0), {from, Side::kFrom});
}

void Messages::start_receive_with_care(const Peer& from, std::int64_t bytes, Requests request) {
  const Partner partner = sender(from);
  if (is_awaited(partner, bytes)) learner_.post();
  const std::uint64_t handle = handle_at(request, 0);
  if (partner.side == Side::kNobody) return forget(handle);
  RequestTable::Request& made = put(handle, partner);
  if (partner.side == Side::kAnySource) remember_communicator(made, from.comm);
}

void Messages::make_send(SendMode mode, Partner to, std::int64_t bytes, Requests request) {
  RequestTable::Request& made = put_send(to, bytes, request);
  made.partner = to;
  if (to.side != Side::kTo) return;
  if (mode == SendMode::kStandard) made.sends = Sends::kStandardMessage;
  made.partner.side = side_of_send(mode, to.rank, bytes, true);
}

void Messages::make_partitioned_send(Partner to, std::int64_t bytes, Requests request) { put_send(to, bytes, request); }

void Messages::make_receive(const Peer& from, Requests request) {
  RequestTable::Request& made = put(handle_at(request, 0), sender(from));
  remember_communicator(made, from.comm);
  made.is_persistent = made.is_idle = true;
}

void Messages::start_unknown(Requests request, bool is_persistent) {
  RequestTable::Request& made = put(handle_at(request, 0));
  made.is_persistent = made.is_idle = is_persistent;
}

/// A persistent one.
RequestTable::Request& Messages::put_send(Partner to, std::int64_t bytes, Requests request) {
  RequestTable::Request& made = put(handle_at(request, 0));
  made.more = bytes;
  made.receiver = to.side == Side::kTo ? to.rank : kUnknownRank;
  made.sends = to.side == Side::kNobody ? Sends::kNothing : Sends::kMessage;
  made.is_persistent = made.is_idle = true;
  return made;
}

/// Of one that receives from anybody.
void Messages::remember_communicator(RequestTable::Request& request, Handles::Key comm) {
  request.more = comm.handle();
  request.freed_communicators = handles.freed_communicators();
  request.language = comm.language();
}

void Messages::start(Requests requests, int count, CallSums& sums) {
  for (int i = 0; i < count; ++i) {
    RequestTable::Request* const request = requests_.find(handle_at(requests, i));
    if (request == nullptr || !request->is_persistent) continue;
    request->is_idle = false;
    if (request->sends != Sends::kNothing) sums.count_message(request->receiver, request->more);
    Partner& partner = request->partner;
    if (partner.side == Side::kFrom || partner.side == Side::kAnySource) continue;
    learner_.post();
    say_sent(partner);
    if (request->sends == Sends::kStandardMessage) {
      look_at_send(partner.rank, request->more, behind(requests, i), true);
      partner.side = side_of_send(SendMode::kStandard, partner.rank, request->more, true);
    }
    if (partner.side == Side::kTo) learner_.send(partner.rank);
  }
}

/// Whether it took place is known to nobody before it is waited for.
void Messages::cancel(Requests request) {
  if (request.at == nullptr) return;
  RequestTable::Request* const found = requests_.find(handle_at(request, 0));
  if (found == nullptr) return;
  found->partner = {};
  if (found->sends == Sends::kStandardMessage) found->sends = Sends::kMessage;
}

void Messages::look_at_send(wire::Rank to, std::int64_t bytes, Requests request, bool is_persistent) {
  if (bytes < 0 || !limits_.wants_to_see(to, static_cast<std::uint64_t>(bytes), is_persistent)) return;
  if (library.request_get_status == nullptr) return;
  alignas(16) char status[128];
  int is_complete = 0;
  if (library.request_get_status(handle_in_c(request), &is_complete, status) == 0)
    limits_.saw(to, static_cast<std::uint64_t>(bytes), is_complete != 0);
}

Word Messages::handle_in_c(Requests request) const {
  if (!are_numbers(request.language)) return *static_cast<const Word*>(request.at);
  const int number = *static_cast<const int*>(request.at);
  return library.request_from_fortran == nullptr ? number : library.request_from_fortran(number);
}

/// A program may free a communicator in which it still receives: of a handle that may be no longer one nothing is asked.
Partner Messages::source_of(const RequestTable::Request& request, const void* status) const {
  const Handles::Key comm(request.more, request.language);
  const bool may_be_gone = request.freed_communicators != handles.freed_communicators() && !handles.is_world(comm);
  return may_be_gone ? Partner{} : source_in(status, {comm});
}

void Messages::complete_with_care(RequestTable::Request& request, Word statuses, int at, Language language) {
  if (request.is_idle) return;
  Partner partner = request.partner;
  if (partner.side == Side::kAnySource) partner = source_of(request, status_at(statuses, at, language));
  if (partner.side == Side::kGroup) learner_.wait_for_started_group(static_cast<std::uint64_t>(request.more));
  if (request.is_persistent)
    request.is_idle = true;
  else
    requests_.erase(&request);
  if (partner.side != Side::kTo) note(partner);
}

/// One that was to be started again stays as it was.
bool Messages::has_completed_any() {
  for (int i = 0; i < saved_; ++i) {
    if (handle_at(saved_of_, i) != handles_[i]) return true;
    const RequestTable::Request* const request = requests_.find(handles_[i]);
    if (request != nullptr && request->is_persistent && !request->is_idle) return true;
  }
  return false;
}

/// One that has stayed as it was is none, or one that had not been started.
void Messages::complete_unknown(int i) {
  if (i >= saved_ || (i >= 0 && handle_at(saved_of_, i) != handles_[i])) wait_unknown();
}

/// Who has sent what anybody could have sent.
Partner Messages::source_in(const void* status, Peer peer) const {
  if (status == nullptr) return {};
  memcpy(&peer.rank, static_cast<const char*>(status) + interface_.source_at, sizeof peer.rank);
  if (peer.rank < 0) return {};
  peer.world_rank = handles.world_rank(peer.comm, peer.rank);
  return sender(peer);
}

/// On whom it depends what the rank gets. Nobody: it gives alone.
Partner Messages::partner_in(Handles::Key comm, Part part, int root) const {
  if (part != Part::kFromRoot && part != Part::kToRoot) return {0, Side::kGroup};
  const int its_rank = root < 0 ? kUnknownRank : handles.world_rank(comm, root);
  if (its_rank < 0) return {};
  if ((its_rank == rank_) == (part == Part::kFromRoot)) return {0, Side::kNobody};
  return part == Part::kFromRoot ? Partner{its_rank, Side::kFrom} : Partner{0, Side::kGroup};
}

void Messages::collective(Handles::Key comm, Part part, int root) {
  const Partner partner = partner_in(comm, part, root);
  if (partner.side != Side::kUnknown) learner_.post();
  if (partner.side != Side::kGroup) {
    say_unknown();  // Nobody would find what the root sends.
    return note(partner);
  }
  if (calls_say_partners_) [[unlikely]]
    is_of_all(comm, part) ? partners_of_call_.wait_for_all() : partners_of_call_.wait_for(partner);
  learner_.wait_for_group(key_of(comm, part), [&] { return find_group(comm, part); });
}

/// Nobody of the program goes on before all have come.
bool Messages::is_of_all(Handles::Key comm, Part part) const {
  return part == Part::kAll && handles.ranks_of(comm) == world_size_ && !handles.is_intercommunicator(comm);
}

/// Its communicator may be freed before it is waited for, so the group is asked for now.
void Messages::start_collective(Handles::Key comm, Part part, int root, Requests request, bool is_persistent) {
  const Partner partner = partner_in(comm, part, root);
  const std::uint64_t handle = handle_at(request, 0);
  if (!is_persistent && partner.side != Side::kFrom) learner_.post();
  if (!is_persistent && partner.side == Side::kNobody) return forget(handle);
  RequestTable::Request& made = put(handle);
  made.partner = partner;
  made.is_persistent = made.is_idle = is_persistent;
  if (partner.side != Side::kGroup) return;
  const std::uint64_t key = key_of(comm, part);
  learner_.learn_group(key, [&] { return find_group(comm, part); });
  made.more = static_cast<std::int64_t>(key);
}

std::optional<habits::WaitLearner::Group> Messages::find_group(Handles::Key comm, Part part) const {
  static wire::Rank ranks[shm::kPatternRanks];
  if (part == Part::kFromNeighbours || part == Part::kFromNeighboursPerhaps) return find_neighbours(comm, part);
  if (is_of_all(comm, part)) return habits::WaitLearner::Group{{}, shm::PartnerBook::kCollective};
  const int count = handles.world_ranks_of(comm, ranks);
  if (count <= 0) return std::nullopt;
  int used = count;
  if (part == Part::kFromLower) used = handles.own_rank_in(comm);
  if (used < 0) return std::nullopt;
  return habits::WaitLearner::Group{std::span(ranks, static_cast<std::size_t>(used)),
                                    part == Part::kAll ? std::uint32_t{shm::PartnerBook::kCollective} : 0};
}

bool Messages::step(wire::Step number) {
  const auto tell = [](int pattern, std::span<const wire::Rank> from, std::span<const wire::Rank> to,
                       std::uint32_t flags) {
    idlewave_partners_(pattern, from.data(), static_cast<int>(from.size()), to.data(), static_cast<int>(to.size()),
                       static_cast<int>(flags));
  };
  if (step_ == wire::kNoStep)
    learner_.skip();
  else if (number <= step_)
    learner_.forget_steps();
  else
    learner_.end_step(step_, tell);
  step_ = number;
  return calls_say_partners_ = learner_.has_long_steps();
}

}  // namespace idlewave::mpi
