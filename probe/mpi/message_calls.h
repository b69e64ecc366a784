#pragma once
// From the arguments of a call to what it says about messages (messages.h). Which arguments those are is known when the
// wrappers are compiled; a call that has nothing to say costs nothing.

#include "probe/mpi/call_of_thread.h"
#include "probe/mpi/carried.h"
#include "probe/mpi/messages.h"
#include "probe/mpi/roles.h"
#include "probe/mpi/watcher.h"

namespace idlewave::mpi {

constexpr bool is_one_of(Call call, std::initializer_list<Call> calls) {
  for (const Call each : calls)
    if (each == call) return true;
  return false;
}

constexpr SendMode mode_of(Call call) {
  using enum Call;
  if (is_one_of(call, {kSsend, kIssend, kSsend_init})) return SendMode::kSynchronous;
  // A ready send has its receiver there.
  if (is_one_of(call, {kBsend, kIbsend, kBsend_init, kRsend, kIrsend, kRsend_init})) return SendMode::kBuffered;
  return SendMode::kStandard;
}

/// What a rank has to do with the group; nothing for a collective of which that is not known.
constexpr std::optional<Part> part_in(Call call) {
  using enum Call;
  if (is_one_of(call, {kBarrier, kAllgather, kAllgatherv, kAlltoall, kAlltoallv, kAlltoallw, kAllreduce,
                       kReduce_scatter, kReduce_scatter_block}))
    return Part::kAll;
  if (is_one_of(call, {kIbarrier, kIallgather, kIallgatherv, kIalltoall, kIalltoallv, kIalltoallw, kIallreduce,
                       kIreduce_scatter, kIreduce_scatter_block}))
    return Part::kAll;
  if (is_one_of(call, {kBarrier_init, kAllgather_init, kAllgatherv_init, kAlltoall_init, kAlltoallv_init,
                       kAlltoallw_init, kAllreduce_init, kReduce_scatter_init, kReduce_scatter_block_init}))
    return Part::kAll;
  if (is_one_of(call, {kBcast, kScatter, kScatterv, kIbcast, kIscatter, kIscatterv, kBcast_init, kScatter_init,
                       kScatterv_init}))
    return Part::kFromRoot;
  if (is_one_of(call,
                {kReduce, kGather, kGatherv, kIreduce, kIgather, kIgatherv, kReduce_init, kGather_init, kGatherv_init}))
    return Part::kToRoot;
  if (is_one_of(call, {kScan, kExscan, kIscan, kIexscan, kScan_init, kExscan_init})) return Part::kFromLower;
  if (is_one_of(call, {kNeighbor_allgather, kNeighbor_allgatherv, kNeighbor_alltoall, kNeighbor_alltoallv,
                       kNeighbor_alltoallw, kIneighbor_allgather, kIneighbor_allgatherv, kIneighbor_alltoall,
                       kIneighbor_alltoallv, kIneighbor_alltoallw, kNeighbor_allgather_init, kNeighbor_allgatherv_init,
                       kNeighbor_alltoall_init, kNeighbor_alltoallv_init, kNeighbor_alltoallw_init}))
    return Part::kFromNeighbours;
  return std::nullopt;
}

/// The argument with requests that the call may complete; -1: none.
constexpr int completed_by(Call call) {
  using enum Call;
  if (is_one_of(call, {kWait, kTest})) return place_of(call, "request");
  return is_one_of(call, {kWaitall, kWaitany, kWaitsome, kTestall, kTestany, kTestsome})
             ? place_of(call, "array_of_requests")
             : -1;
}

/// That takes a request as it is.
constexpr bool asks_of_a_request(Call call) {
  using enum Call;
  return is_one_of(call, {kRequest_get_status, kParrived, kPready, kPready_list, kPready_range, kCancel});
}

/// Whether something is there, without waiting for it.
constexpr bool asks(Call call) {
  using enum Call;
  return is_one_of(call, {kTest, kTestall, kTestany, kTestsome, kIprobe, kImprobe, kRequest_get_status, kParrived,
                          kRequest_get_status_all, kRequest_get_status_any, kRequest_get_status_some, kWin_test});
}

/// That somebody waits for later.
constexpr bool starts_a_request(Call call) {
  return completed_by(call) < 0 && !asks_of_a_request(call) && place_of(call, "request") >= 0;
}

constexpr bool starts_requests(Call call) { return starts_a_request(call) || call == Call::kStartall; }

/// Of no language where the call has none.
template <Call call, Form form>
Handles::Key comm_of(const Word* words) {
  constexpr int comm = place_of(call, "comm");
  if constexpr (comm < 0) return {};
  return Handles::key_of<form>(words[first_of(comm, 0)]);
}

/// Whom the arguments of a call name. `of_all`: its communicator is everybody's.
template <Call call, Form form>
Peers peers_by(const Word* words, bool of_all) {
  constexpr int comm = place_of(call, "comm"), to = sent_by(call).peer, from = received_by(call).peer;
  if constexpr (comm < 0) return kNobody;
  if constexpr (to < 0 && from < 0) return of_all ? kEverybody : kNobody;
  const auto rank_at = [&](int place) { return place < 0 ? -1 : int_at<form>(words[place]); };
  if constexpr (is_one_of(call, {Call::kProbe, Call::kMprobe, Call::kIprobe, Call::kImprobe}))
    if (rank_at(from) < 0) return kWhoeverComes;
  return peers_of(rank_at(to), rank_at(from));
}

/// `is_sound`: the call has succeeded, so that the library may be asked of its communicator.
template <Call call, Form form>
Concerned concerned_by(const Word* words, bool is_sound) {
  if constexpr (place_of(call, "comm") < 0) return {.peers = kNobody, .all = true};
  constexpr bool is_of_a_group = part_in(call).value_or(Part::kFromNeighbours) != Part::kFromNeighbours;
  const Handles::Key key = comm_of<call, form>(words);
  const bool all = is_of_a_group && is_sound ? handles.is_of_all(key) : Handles::is_world(key);
  return {.peers = peers_by<call, form>(words, all), .all = all};
}

template <Call call, Form form>
Peer peer_at(const Word* words, int place) {
  const Handles::Key key = comm_of<call, form>(words);
  const int rank = int_at<form>(words[place]);
  return {key, rank, handles.world_rank(key, rank)};
}

template <Form form>
Requests requests_at(Word word) {
  return {reinterpret_cast<const void*>(word), language_of(form)};
}

template <Form form>
std::int64_t bytes_of(const Word* words, const MessagePlaces& places) {
  if (places.count < 0) return 0;
  return detail::bytes_in<form>(handles, count_at<form>(words[places.count]), words[places.type]);
}

/// Of MPI_Psend_init, whose count is a large one in all forms.
template <Form form>
std::int64_t bytes_of_partitions(const Word* words) {
  constexpr Form large = is_fortran(form) ? Form::kFortranLarge : Form::kCLarge;
  constexpr int partitions = place_of(Call::kPsend_init, "partitions");
  constexpr MessagePlaces each = sent_by(Call::kPsend_init);
  return times(int_at<form>(words[partitions]), bytes_of<large>(words, each));
}

/// What a call that has succeeded had MPI carry, and to whom, if it has sent a message.
struct Sent {
  std::int64_t bytes = kUnknownBytes;
  Partner to;
};

/// Counts the message by its receiver.
template <Call call, Form form>
inline Sent count_sent(const Word* words) {
  Sent sent;
  if constexpr (carries_of(call) == Carries::kNone) return sent;
  sent.bytes = carried<call, form>(handles, words);
  if constexpr (carries_of(call) == Carries::kMessage) {
    constexpr int place = sent_by(call).peer;
    const Peer to = peer_at<call, form>(words, place);
    if (to.rank >= 0) watch.sums.count_message(to.world_rank, sent.bytes);
    sent.to = Messages::receiver(to);
  }
  return sent;
}

/// The same of another thread.
template <Call call, Form form>
inline void count_sent_by_thread(CallOfThread& by, const Word* words) {
  Handles* const asked = by.handles();
  if (asked == nullptr) return;
  by.carried(carried<call, form>(*asked, words));
  if constexpr (carries_of(call) == Carries::kMessage) {
    constexpr int comm = place_of(call, "comm"), peer = sent_by(call).peer;
    const int rank = int_at<form>(words[peer]);
    if (rank >= 0) by.sent_to(asked->world_rank_for_thread(Handles::key_of<form>(words[comm]), rank));
  }
}

/// Before a call that overwrites requests.
template <Call call, Form form>
inline void note_before(const Word* words) {
  constexpr int requests = completed_by(call);
  if constexpr (requests >= 0)
    messages.save(requests_at<form>(words[requests]), requests == 0 ? 1 : int_at<form>(words[0]));
  if constexpr (call == Call::kCancel) messages.cancel(requests_at<form>(words[0]));
}

/// The requests that the call has completed.
template <Call call, Form form>
inline void note_completed(const Word* words) {
  using enum Call;
  constexpr Language language = language_of(form);
  constexpr int first = is_fortran(form) ? 1 : 0;
  constexpr int one = place_of(call, "status"), several = place_of(call, "array_of_statuses");
  constexpr int flag = place_of(call, "flag");
  const Word statuses = words[one >= 0 ? one : several];
  if constexpr (flag >= 0)
    if (*reinterpret_cast<const int*>(words[flag]) == 0) return;
  if constexpr (is_one_of(call, {kWait, kTest})) {
    messages.complete(0, statuses, 0, language);
  } else if constexpr (is_one_of(call, {kWaitall, kTestall})) {
    const int count = int_at<form>(words[0]);
    for (int i = 0; i < count; ++i) messages.complete(i, statuses, i, language);
  } else if constexpr (is_one_of(call, {kWaitany, kTestany})) {
    constexpr int index = place_of(call, "indx");
    const int i = *reinterpret_cast<const int*>(words[index]) - first;
    if (i >= 0) messages.complete(i, statuses, 0, language);
  } else {
    constexpr int completed = place_of(call, "outcount"), places = place_of(call, "array_of_indices");
    const int count = *reinterpret_cast<const int*>(words[completed]);
    const auto* const indices = reinterpret_cast<const int*>(words[places]);
    for (int i = 0; i < count; ++i) messages.complete(indices[i] - first, statuses, i, language);
  }
}

/// What a call that has asked and succeeded was told; before anything else is noted of it.
template <Call call>
inline habits::Answer answer_of(const Word* words) {
  using enum Call;
  constexpr int flag = place_of(call, "flag"), count = place_of(call, "outcount");
  const int told = *reinterpret_cast<const int*>(words[flag >= 0 ? flag : count]);
  if (told == 0) return habits::Answer::kNotYet;
  if constexpr (call == kWin_test) return habits::Answer::kDone;
  if constexpr (completed_by(call) < 0) return habits::Answer::kSeen;
  if constexpr (flag < 0)
    if (told < 0) return habits::Answer::kNothing;  // MPI_UNDEFINED: there was no request.
  return messages.has_completed_any() ? habits::Answer::kDone : habits::Answer::kNothing;
}

/// Of a receive; 0 where it makes no difference.
template <Form form>
std::int64_t received_bytes(const Word* words, const MessagePlaces& places) {
  return messages.sends_have_waited() ? bytes_of<form>(words, places) : 0;
}

/// What each gets in a collective of neighbours; kUnknownBytes where that differs.
template <Call call, Form form>
std::int64_t bytes_to_neighbour(const Word* words) {
  constexpr MessagePlaces sent{.count = place_of(call, "sendcount"), .type = place_of(call, "sendtype")};
  if constexpr (sent.count < 0) return kUnknownBytes;
  return bytes_of<form>(words, sent);
}

/// A message to somebody, one from somebody, or both. `sent`: what went out, if the call sends at once.
template <Call call, Form form>
inline void note_message(const Word* words, [[maybe_unused]] const Sent& sent) {
  using enum Call;
  constexpr MessagePlaces out = sent_by(call), in = received_by(call);
  constexpr int request = place_of(call, "request"), status = place_of(call, "status");
  [[maybe_unused]] const Requests made = request < 0 ? Requests{} : requests_at<form>(words[request]);
  constexpr bool is_made = is_one_of(call, {kSend_init, kSsend_init, kBsend_init, kRsend_init, kRecv_init});
  constexpr SendMode mode = mode_of(call);
  if constexpr (out.peer >= 0) {
    if constexpr (is_made)
      messages.make_send(mode, Messages::receiver(peer_at<call, form>(words, out.peer)), bytes_of<form>(words, out),
                         made);
    else if constexpr (request >= 0)
      messages.start_send(mode, sent.to, sent.bytes, made);
    else
      messages.send(mode, sent.to, sent.bytes);
  }
  if constexpr (in.peer >= 0) {
    const Peer from = peer_at<call, form>(words, in.peer);
    if constexpr (is_made)
      messages.make_receive(from, made);
    else if constexpr (request >= 0)
      messages.start_receive(from, received_bytes<form>(words, in), made);
    else
      messages.receive(from, received_bytes<form>(words, in), words[status]);
  }
}

/// Of a window.
template <Call call, Form form>
inline void note_window(const Word* words) {
  using enum Call;
  constexpr int win = place_of(call, "win"), group = place_of(call, "group"), flag = place_of(call, "flag");
  const Handles::Key window = Handles::key_of<form>(words[win]);
  if constexpr (call == kWin_fence) messages.fence(window);
  if constexpr (call == kWin_post) messages.open_window(window, Handles::key_of<form>(words[group]));
  if constexpr (call == kWin_start) messages.start_access(window, Handles::key_of<form>(words[group]));
  if constexpr (call == kWin_complete) messages.complete_access(window);
  if constexpr (call == kWin_wait) messages.close_window(window);
  if constexpr (call == kWin_test)
    if (*reinterpret_cast<const int*>(words[flag]) != 0) messages.close_window(window);
}

/// Of a collective.
template <Call call, Form form, bool waits>
inline void note_collective(const Word* words) {
  constexpr int comm = place_of(call, "comm"), request = place_of(call, "request");
  constexpr int root = place_of(call, "root");
  Part part = *part_in(call);
  if constexpr (*part_in(call) == Part::kFromNeighbours)
    part = Messages::part_of_neighbours(bytes_to_neighbour<call, form>(words));
  int its_rank = 0;
  if constexpr (root >= 0) its_rank = int_at<form>(words[root]);
  const Handles::Key group = Handles::key_of<form>(words[comm]);
  if constexpr (request >= 0)
    messages.start_collective(group, part, its_rank, requests_at<form>(words[request]), waits);
  else
    messages.collective(group, part, its_rank);
}

/// After the call, which may have failed.
template <Call call, Form form, bool waits>
inline void note_after(const Word* words, bool has_succeeded, [[maybe_unused]] const Sent& sent) {
  using enum Call;
  constexpr int comm = place_of(call, "comm");
  [[maybe_unused]] constexpr int request = place_of(call, "request");
  if (!has_succeeded) [[unlikely]] {
    if constexpr (waits) messages.wait_unknown();
    return;
  }
  if constexpr (completed_by(call) >= 0) {
    note_completed<call, form>(words);
  } else if constexpr (call == kPsend_init) {
    constexpr int receiver = sent_by(call).peer;
    messages.make_partitioned_send(Messages::receiver(peer_at<call, form>(words, receiver)),
                                   bytes_of_partitions<form>(words), requests_at<form>(words[request]));
  } else if constexpr (is_one_of(call, {kIsendrecv, kIsendrecv_replace, kPrecv_init, kIprobe, kImprobe})) {
    constexpr bool is_persistent = call == kPrecv_init;
    if constexpr (request >= 0) messages.start_unknown(requests_at<form>(words[request]), is_persistent);
  } else if constexpr (comm >= 0 && (sent_by(call).peer >= 0 || received_by(call).peer >= 0)) {
    note_message<call, form>(words, sent);
  } else if constexpr (call == kStart) {
    messages.start(requests_at<form>(words[0]), 1, watch.sums);
  } else if constexpr (call == kStartall) {
    messages.start(requests_at<form>(words[1]), int_at<form>(words[0]), watch.sums);
  } else if constexpr (part_in(call).has_value()) {
    note_collective<call, form, waits>(words);
  } else if constexpr (is_one_of(call, {kWin_fence, kWin_post, kWin_start, kWin_complete, kWin_wait, kWin_test})) {
    note_window<call, form>(words);
  } else if constexpr (call == kMrecv || asks_of_a_request(call)) {
    // The message is there, or it is only asked.
  } else if constexpr (request >= 0) {
    // A transfer into a window or a file.
    messages.start_unknown(requests_at<form>(words[request]), waits);
  } else if constexpr (waits) {
    messages.wait_unknown();
  }
}

}  // namespace idlewave::mpi
