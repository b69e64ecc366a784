#pragma once
// How many bytes a call has had MPI carry, from its arguments (probe/mpi/calls.txt, after '='). Only for calls that have
// succeeded, without an error that was taken back: then what is read here, and nothing else of the arguments, was checked by
// the library, but for types of which there are no items.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probe/mpi/handles.h"
#include "probe/mpi/roles.h"

namespace idlewave::mpi {

inline constexpr std::int64_t kUnknownBytes = -1;

constexpr Carries carries_of(Call call) { return kArguments[static_cast<std::size_t>(call)].carries; }

/// `words`: as they were passed on; the error of Fortran is always there (wrappers.cpp).
template <Call call, Form form>
bool has_succeeded(Word result, const Word* words) {
  if constexpr (!is_fortran(form)) return static_cast<int>(result) == 0;
  constexpr int place = arguments_of(call);
  return *reinterpret_cast<const int*>(words[place]) == 0;
}

inline std::int64_t times(std::int64_t count, std::int64_t bytes) {
  std::int64_t product = 0;
  return count < 0 || bytes < 0 || __builtin_mul_overflow(count, bytes, &product) ? kUnknownBytes : product;
}

namespace detail {

/// Of nothing a library may take any type, also one of which it must not be asked: MPICH does.
template <Form form>
[[gnu::always_inline]] inline std::int64_t bytes_in(Handles& asked, std::int64_t count, Word type) {
  if (count <= 0) return count == 0 ? 0 : kUnknownBytes;
  return times(count, asked.size_of(Handles::key_of<form>(type)));
}

template <Call call, Form form>
struct Arguments {
  Handles& asked;
  const Word* words;

  // Not consteval: clang 14 then takes its words for no constants. Only for what must be one, or it is looked up for
  // each call.
  static constexpr int place(std::string_view word) { return place_of(call, word); }
  Handles::Key comm() const {
    constexpr int at = place("comm");
    return Handles::key_of<form>(words[at]);
  }
  /// kUnknownBytes of them where that is not known.
  std::int64_t ranks() const {
    const int ranks = asked.ranks_of(comm());
    return ranks > 0 ? ranks : kUnknownBytes;
  }
  int own_rank() const { return asked.own_rank_in(comm()); }
  bool is_root() const {
    constexpr int at = place("root");
    return int_at<form>(words[at]) == own_rank();
  }
  bool is_among_two_groups() const { return asked.is_intercommunicator(comm()); }

  template <int count, int type>
  std::int64_t block() const {
    return bytes_in<form>(asked, count_at<form>(words[count]), words[type]);
  }
  std::int64_t sum(Word counts) const {
    const std::int64_t ranks = this->ranks();
    if (ranks < 0) return kUnknownBytes;
    std::int64_t all = 0;
    for (int i = 0; i < ranks; ++i) all += count_in<form>(counts, i);
    return all;
  }
  std::int64_t own_of(Word counts) const {
    const int rank = own_rank();
    return rank < 0 ? kUnknownBytes : count_in<form>(counts, rank);
  }
};

/// Of the calls that take part in a collective of one group.
template <Call call, Form form>
std::int64_t carried_in_group(const Arguments<call, form>& in) {
  using In = Arguments<call, form>;
  constexpr Carries rule = carries_of(call);
  const Word* words = in.words;
  if (in.is_among_two_groups()) return kUnknownBytes;
  if constexpr (rule == Carries::kRoot) {
    return in.is_root() ? in.template block<In::place("count"), In::place("datatype")>() : 0;
  } else if constexpr (rule == Carries::kGather) {
    return in.is_root() ? in.template block<In::place("recvcount"), In::place("recvtype")>()
                        : in.template block<In::place("sendcount"), In::place("sendtype")>();
  } else if constexpr (rule == Carries::kGatherv) {
    constexpr int counts = In::place("recvcounts"), type = In::place("recvtype");
    if (!in.is_root()) return in.template block<In::place("sendcount"), In::place("sendtype")>();
    return bytes_in<form>(in.asked, in.own_of(words[counts]), words[type]);
  } else if constexpr (rule == Carries::kScatter) {
    return in.is_root() ? times(in.ranks(), in.template block<In::place("sendcount"), In::place("sendtype")>()) : 0;
  } else if constexpr (rule == Carries::kScatterv) {
    constexpr int counts = In::place("sendcounts"), type = In::place("sendtype");
    return in.is_root() ? bytes_in<form>(in.asked, in.sum(words[counts]), words[type]) : 0;
  } else if constexpr (rule == Carries::kOwn) {
    return in.template block<In::place("recvcount"), In::place("recvtype")>();
  } else if constexpr (rule == Carries::kOwnv) {
    constexpr int counts = In::place("recvcounts"), type = In::place("recvtype");
    return bytes_in<form>(in.asked, in.own_of(words[counts]), words[type]);
  } else if constexpr (rule == Carries::kAll) {
    return times(in.ranks(), in.template block<In::place("recvcount"), In::place("recvtype")>());
  } else if constexpr (rule == Carries::kEach) {
    return times(in.ranks(), in.template block<In::place("recvcount"), In::place("datatype")>());
  } else {
    static_assert(rule == Carries::kEachv);
    constexpr int counts = In::place("recvcounts"), type = In::place("datatype");
    return bytes_in<form>(in.asked, in.sum(words[counts]), words[type]);
  }
}

}  // namespace detail

/// kUnknownBytes: the arguments don't tell, or the call carries nothing. `words` as for has_succeeded; `asked`: of the
/// calling thread.
template <Call call, Form form>
std::int64_t carried(Handles& asked, const Word* words) {
  using In = detail::Arguments<call, form>;
  constexpr Carries rule = carries_of(call);
  [[maybe_unused]] const In in{asked, words};
  if constexpr (rule == Carries::kNone) {
    return kUnknownBytes;
  } else if constexpr (rule == Carries::kMessage) {
    constexpr MessagePlaces sent = sent_by(call);
    return int_at<form>(words[sent.peer]) < 0 ? 0 : in.template block<sent.count, sent.type>();
  } else if constexpr (rule == Carries::kBlock) {
    return in.template block<In::place("count"), In::place("datatype")>();
  } else if constexpr (rule == Carries::kReduced) {
    // Between two groups: MPI_PROC_NULL beside the root, MPI_ROOT on it.
    constexpr int root = In::place("root");
    return int_at<form>(words[root]) < 0 ? kUnknownBytes
                                         : in.template block<In::place("count"), In::place("datatype")>();
  } else if constexpr (rule == Carries::kSent) {
    return in.template block<In::place("sendcount"), In::place("sendtype")>();
  } else if constexpr (rule == Carries::kOrigin) {
    constexpr int target = In::place("target_rank");
    return int_at<form>(words[target]) < 0
               ? 0
               : in.template block<In::place("origin_count"), In::place("origin_datatype")>();
  } else if constexpr (rule == Carries::kResult) {
    constexpr int target = In::place("target_rank");
    return int_at<form>(words[target]) < 0
               ? 0
               : in.template block<In::place("result_count"), In::place("result_datatype")>();
  } else {
    return detail::carried_in_group<call, form>(in);
  }
}

}  // namespace idlewave::mpi
