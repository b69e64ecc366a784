#pragma once
// What the arguments of a call are for, from the words that the table (probe/mpi/calls.txt) has for them, and how they
// are read in each language. All of it is known when the wrappers are compiled.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "probe/mpi/calls.h"
#include "probe/mpi/language.h"

namespace idlewave::mpi {

using Word = std::intptr_t;

/// What a call has MPI carry (probe/mpi/calls.txt, after '='). kNone: its arguments don't tell, or it carries nothing.
enum class Carries : std::uint8_t {
  kNone,
  kMessage,
  kBlock,
  kReduced,
  kRoot,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kOwn,
  kOwnv,
  kAll,
  kEach,
  kEachv,
  kSent,
  kOrigin,
  kResult,
};

struct CallArguments {
  std::string_view words;  ///< In their order, with a blank between them.
  Carries carries = Carries::kNone;
};

/// In the order of Call.
inline constexpr CallArguments kArguments[] = {
#include "probe/mpi/call_arguments.inc"
};

/// Which argument of the call the standard calls `word`; -1: none.
constexpr int place_of(Call call, std::string_view word) {
  std::string_view rest = kArguments[static_cast<std::size_t>(call)].words;
  for (int place = 0; !rest.empty(); ++place) {
    const std::size_t end = rest.find(' ');
    if (rest.substr(0, end) == word) return place;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return -1;
}

/// Of the standard's arguments. In Fortran the next one is the error.
constexpr int arguments_of(Call call) {
  int count = 1;
  for (const char letter : kArguments[static_cast<std::size_t>(call)].words) count += letter == ' ';
  return count;
}

/// What a call has of one direction; -1: the call has none of it.
struct MessagePlaces {
  int count = -1;
  int type = -1;
  int peer = -1;
  int tag = -1;
};

constexpr int first_of(int place, int otherwise) { return place >= 0 ? place : otherwise; }

/// Of the calls that send to one rank.
constexpr MessagePlaces sent_by(Call call) {
  const int peer = place_of(call, "dest");
  if (peer < 0) return {};
  return {first_of(place_of(call, "sendcount"), place_of(call, "count")),
          first_of(place_of(call, "sendtype"), place_of(call, "datatype")), peer,
          first_of(place_of(call, "sendtag"), place_of(call, "tag"))};
}

/// Of the calls that receive from one rank, or look for what it has sent.
constexpr MessagePlaces received_by(Call call) {
  const int peer = place_of(call, "source");
  if (peer < 0) return {};
  return {first_of(place_of(call, "recvcount"), place_of(call, "count")),
          first_of(place_of(call, "recvtype"), place_of(call, "datatype")), peer,
          first_of(place_of(call, "recvtag"), place_of(call, "tag"))};
}

/// Who calls: words are values in C, and addresses of values in Fortran.
enum class Form : std::uint8_t { kC, kCLarge, kFortran, kFortranLarge };

constexpr Language language_of(Form form) {
  return form == Form::kFortran || form == Form::kFortranLarge ? Language::kFortran : Language::kC;
}
constexpr bool is_fortran(Form form) { return language_of(form) == Language::kFortran; }
constexpr bool has_large_counts(Form form) { return form == Form::kCLarge || form == Form::kFortranLarge; }

/// A rank, a tag, the length of an array: an int in all forms. The upper half of a register that holds an int may be
/// anything.
template <Form form>
int int_at(Word word) {
  return is_fortran(form) ? *reinterpret_cast<const int*>(word) : static_cast<int>(word);
}

template <Form form>
std::int64_t count_at(Word word) {
  if constexpr (!has_large_counts(form)) return int_at<form>(word);
  return is_fortran(form) ? *reinterpret_cast<const std::int64_t*>(word) : word;
}

/// Element `i` of an array of counts, which is an address in all forms.
template <Form form>
std::int64_t count_in(Word array, int i) {
  if constexpr (has_large_counts(form)) return reinterpret_cast<const std::int64_t*>(array)[i];
  return reinterpret_cast<const int*>(array)[i];
}

/// A communicator, datatype or request, as its language has it: an int in Fortran; in C what the library takes for one
/// (handles.h).
template <Form form>
Word handle_at(Word word) {
  return is_fortran(form) ? *reinterpret_cast<const int*>(word) : word;
}

}  // namespace idlewave::mpi
