#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "probe/mpi/habits/meetings.h"
#include "probe/mpi/partner.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::mpi::habits {

/// Where in the program a call stands. Words alone, which are copied as they were stored.
struct CallSite {
  std::uintptr_t place = 0;  ///< As of StepFinder::place_of(); not 0.
  std::uintptr_t frame = 0;  ///< On the stack, of the function there.
  std::uintptr_t call = 0;   ///< Which function of MPI, and what it ends: as of call_of().

  /// Requests that were started before: by itself it can't go on for ever.
  enum class Ends : std::uint8_t { kNone, kRequests, kSomeRequests };
  static constexpr std::uintptr_t call_of(std::uintptr_t function, Ends ends) {
    if (ends == Ends::kNone) return function + 1;
    return ends == Ends::kRequests ? -(function + 1) : -(function + 1) & ~kAll;
  }
  bool ends_requests() const { return static_cast<std::intptr_t>(call) < 0; }
  /// As many as happen to be over, so that nobody knows how often it is called.
  bool ends_some_requests() const { return ends_requests() && (call & kAll) == 0; }

 private:
  static constexpr std::uintptr_t kAll = std::uintptr_t{1} << (sizeof(std::uintptr_t) * 8 - 2);
};

/// Finds the steps of a program that does not name them, from the calls that it waits in and those that start requests.
/// It looks for the shortest sequence of places in the program that has come four times running and has sixteen places in
/// all; several calls in a row from one place count as one place. No allocation; one thread.
///
/// A step begins where one waiting place of that sequence is left: the one that was seen for the first time last, which in
/// a loop is its last one. A place that is not always left equally often in a row is chosen only where there is no other. The
/// step begins when the place has been left as often as it is in a row, which in a program that waits for each of its
/// requests is the last time. Where nobody can know which time is the last, as in a loop around MPI_Waitsome, it is known
/// when requests are started again. A place to which the sequence comes several times, as in a loop over neighbours with
/// several calls for each, is chosen where there is none to which it comes once; the calls between count as its row then. The
/// number of a step is how often the place has been left so before. So ranks agree on it, whenever each of them has found the
/// sequence, and whatever short loops some of them have been in before.
///
/// Libraries have their messages sent, and their sums taken, by a few functions of their own, at the same addresses for whoever
/// calls those. How deep in the stack a call stands tells these callers apart, so that each is a place. Where that is another
/// depth time and again, so that no loop comes by it in any length that is looked for, addresses alone are places from then on.
///
/// Compilers copy the body of a loop, and a rank that does something special may run another copy. A place that comes where
/// the place of the steps would, calls the same function of MPI from the same frame and lies near, is taken for it.
///
/// Such a sequence may be a loop over partners, which a program has within its steps: if it comes with other partners each
/// time until it comes with the first again, a step is once round. What meets everybody in each is none, neither is what
/// meets the same one in each, and neither is what works between its rounds about as long as before them. Somebody may be
/// met in two rounds, as on a ring of two, where the rank works before one of them alone.
///
/// Within a sequence that was found there may be a loop that is too short for sixteen places in one rank and long enough in
/// another, which makes more calls in a round. So it is looked for, and found if it has come five times, in both.
///
/// Where what lies between two calls of everybody is not made of rounds that are alike (meetings.h), it is a step, and numbers
/// begin anew: how often that call has been left.
class StepFinder {
 public:
  /// Of a call that goes back to `address`, from a function with that frame. Two calls from one frame are as far from each other as
  /// their addresses.
  std::uintptr_t place_of(std::uintptr_t address, std::uintptr_t frame) const { return address + frame * depth_; }

  /// A call that waits is over, before which the rank has worked for so long. The number of the step that begins now;
  /// kNoStep: none does.
  wire::Step leave(const CallSite& site, Peers peers, wire::Nanoseconds work) {
    meetings_.note(peers);
    if (anchor_.place == site.place) return leave_anchor();
    return leave_other(site, {.with = hash_of(peers), .work = work});
  }

  /// The same of a call that comes where it has always come in the sequence that was found, with which no step begins. False: it
  /// may be another one, and leave() is to be called.
  bool passes(std::uintptr_t place, Peers peers) {
    const std::uint32_t slot = home_of(place);
    const Place& known = places_[slot];
    if (known.site.place != place || known.in_cycle != cycles_) [[unlikely]]
      return false;
    if (place == anchor_.place || peers == kEverybody || is_in_row() || since_anchor_ >= passing_) [[unlikely]]
      return false;
    meetings_.note(peers);
    run_ = 0;
    ++since_anchor_;
    count_at(slot);
    return true;
  }

  /// A call that starts requests begins. The number of the step that began when the latest one that waits was left, as
  /// is known only now; kNoStep: none did.
  wire::Step start(const CallSite& site, Peers peers) {
    meetings_.note(peers);
    previous_slot_ = kPlaces;
    if (is_settled()) [[likely]]
      return end_run_before(site.place);
    return remember_start(site, {.with = hash_of(peers), .work = {}});
  }
  /// The same while steps are known and with it none begins. False: start() is to be called, and worked().
  bool passes_start(Peers peers) {
    if (!is_settled() || is_in_row()) [[unlikely]]
      return false;
    meetings_.note(peers);
    previous_slot_ = kPlaces;
    run_ = 0;
    return true;
  }
  /// Before the call that start() was told of.
  void worked(wire::Nanoseconds work) {
    if (!is_settled() && remembered_ > 0) [[unlikely]]
      history_[(remembered_ - 1) % kHistory].about.work += work;
  }

  /// Calls at one place will come as of the other from now on, as which those count that have come.
  void take_for(std::uintptr_t place, std::uintptr_t other);

 private:
  static constexpr std::uintptr_t kDepth = 0x9e3779b97f4a7c15u;  ///< Odd, and far from what addresses differ by.
  static constexpr std::uint32_t kPlaces = 512;                  ///< That are told apart; a power of two.
  static constexpr std::uint32_t kHistory = 2048;                ///< Runs of calls of one place.
  static constexpr std::int32_t kAnyLength = INT32_MAX;
  static constexpr std::uint32_t kTimes = 4;  ///< In a row, before a sequence is believed.
  static constexpr std::uint32_t kFewestPlaces = 16;
  static constexpr std::uint32_t kLongest = 256;  ///< Sequence, in runs.
  /// How often another sequence has to come, while the one that was found does not: something like a checkpoint, which
  /// may have a loop of its own, leaves the steps as they are.
  static constexpr std::uint32_t kTimesOfAnother = 64;
  static constexpr std::uint32_t kMostRequests = 1024;  ///< That a program waits for one by one.
  static constexpr std::uint32_t kMostRounds = 64;      ///< Of a loop over partners.
  static constexpr std::uint32_t kMostInRow = 16;       ///< Other places in a row of the anchor's.
  static constexpr wire::Nanoseconds kWork{10'000};     ///< Less is none, as between the rounds of such a loop.
  static constexpr std::uint32_t kKnownCalls =
      (kTimes - 1) * kMostRounds;                        ///< Of one place in a row, with their partners.
  static constexpr std::uintptr_t kOneFunction = 16384;  ///< Bytes of its instructions.
  static_assert(kHistory >= kTimes * kLongest);

  /// How often a place was left, but for when it was the one that steps end with.
  struct Count {
    std::uint32_t times = 0;
    std::uint32_t runs = 0;  ///< In a row as one.
  };
  struct Place {
    CallSite site;              ///< As it was when it was remembered last.
    std::uint16_t seen_as = 0;  ///< Its number among the places that were new.
    /// How often each round comes to it, where steps may end with it as well; 0: they may not.
    std::uint16_t in_round = 0;
    std::uint16_t times_in_sequence = 0;  ///< While these are counted.
    bool waits = false;
    bool meets_all = false;
    std::uint32_t in_cycle = 0;  ///< The latest sequence that it belonged to, by its number; 0: none.
    std::uint32_t steps = 0;     ///< It has come in.
    wire::Step since = 0;        ///< The step that `lately` began in.
    Count lately, ever;

    /// Both are one.
    void take_counts_of(const Place& other) {
      waits = waits || other.waits;
      meets_all = meets_all || other.meets_all;
      ever.times += other.ever.times;
      ever.runs += other.ever.runs;
    }
    /// With it. Somebody may be left out in a round. Half as many again as usual are of two, the first of which has left out that
    /// with which steps end.
    std::uint32_t rounds_lately() const { return 2 * lately.times >= 3u * in_round ? 2 : 1; }
  };
  /// Of a place that steps may end with as well.
  struct Alternative {
    std::uint32_t not_counted = 0;  ///< Calls before the loop.
    std::uint32_t rounds = 0;       ///< When it was noted.
    std::uint32_t steps = 0;        ///< Of its place, by then.
  };
  /// One call, or several.
  struct About {
    std::uint32_t with = 0;  ///< A hash of their peers, in their order; 0: of nobody's.
    wire::Nanoseconds work{};
  };
  static constexpr std::uint32_t kWithAll = UINT32_MAX;
  enum class Works : std::uint8_t { kInNone, kInOne, kInSeveral };
  /// A loop: by itself, or as part of a sequence that was found.
  enum class Seen : std::uint8_t { kAlone, kWithin };
  struct Run {
    std::uint16_t slot = 0;  ///< Of places_.
    std::uint16_t times = 0;
    bool comes_round = false;  ///< Whom the first call is for, a later one is for as well.
    About about;
  };

  /// The runs of the latest sequence that a step ends with, by how many runs ago: from `first` on to `last`, round the end of
  /// the sequence where `last` is the longer ago.
  struct Row {
    std::uint32_t slot = kPlaces;  ///< Of the place that is left; kPlaces: there is none.
    std::uint32_t first = 0, last = 0;
    std::uint32_t visits = 1;  ///< Runs of that place.

    bool has(std::uint32_t back, std::uint32_t period) const {
      return (first + period - back) % period <= (first + period - last) % period;
    }
  };

  bool is_settled() const { return anchor_.place != 0 && since_anchor_ < patience_; }

  /// Another call may end a row of the anchor's with a step, or belong to the row.
  bool is_in_row() const { return run_ > 0 && (run_ < run_length_ || in_row_count_ > 0); }
  wire::Step leave_anchor() {
    since_anchor_ = 0;
    previous_slot_ = kPlaces;
    if (++run_ != run_length_) return wire::kNoStep;
    if (run_length_ == 1 && !keeps_row_) run_ = 0;
    return end_round();
  }
  /// Another call has come: a row in which the anchor was left less often than usual was a step as well.
  wire::Step end_run() {
    const bool is_step = run_ > 0 && run_ < run_length_;
    run_ = 0;
    return is_step ? end_round() : wire::kNoStep;
  }
  wire::Step end_run_before(std::uintptr_t place) {
    if (run_ > 0 && in_row_count_ > 0 && std::ranges::find(in_row(), place) != in_row().end()) return wire::kNoStep;
    return end_run();
  }
  std::span<const std::uintptr_t> in_row() const { return {in_row_, in_row_count_}; }
  wire::Step end_round() {
    if (rounds_ > 1) [[unlikely]] {
      if (++round_ < rounds_) return wire::kNoStep;
      round_ = 0;
    }
    meetings_.end_step();
    return next_++;
  }

  static std::uint32_t hash_of(Peers peers) {
    return peers == kEverybody ? kWithAll : static_cast<std::uint32_t>((peers * 0x9e3779b97f4a7c15u) >> 32);
  }
  /// Where a place stands, unless another had been there before.
  static std::uint32_t home_of(std::uintptr_t place) {
    return static_cast<std::uint32_t>((place * 0x9e3779b97f4a7c15u) >> 32) % kPlaces;
  }
  wire::Step leave_other(CallSite site, const About& about);
  wire::Step remember_start(const CallSite& site, const About& about);
  bool stands_for_anchor(const CallSite& site);
  std::uint32_t count(const CallSite& site);
  void count_at(std::uint32_t slot) {
    Place& place = places_[slot];
    const std::uint32_t is_new_run = slot != previous_slot_;
    if (place.since != next_) {
      ++place.steps;
      place.since = next_;
      place.lately = {};
    }
    ++place.lately.times;
    place.lately.runs += is_new_run;
    ++place.ever.times;
    place.ever.runs += is_new_run;
    previous_slot_ = slot;
  }
  std::uint32_t number_of(const CallSite& site);
  bool are_depths_in_vain();
  bool repeats_by_address(std::uint32_t period, std::uint32_t runs) const;
  void go_by_addresses();
  std::uintptr_t address_of(std::uint32_t slot) const {
    return places_[slot].site.place - places_[slot].site.frame * depth_;
  }
  bool remember(std::uint32_t slot, const CallSite& site, const About& about, bool waits);
  /// Where no other has been found, or that is long ago.
  std::uint32_t times_of_loop() const {
    return anchor_.place == 0 || remembered_ >= kHistory ? kTimes : kTimesOfAnother;
  }
  wire::Step search(std::uint32_t times);
  bool holds_loop(std::uint32_t whole) const;
  bool holds_loop_of(std::uint32_t period, std::uint32_t runs) const;
  wire::Step search_within(bool is_new);
  void forget_whole();
  std::uint32_t period(std::uint32_t times, std::uint32_t fewest);
  std::uint32_t times_of_one(std::uint32_t period);
  const Run& latest(std::uint32_t back) const { return history_[(remembered_ - 1 - back) % kHistory]; }
  bool repeats(std::uint32_t period, std::uint32_t runs) const;
  Row row_of(std::uint32_t period) const;
  Row row_of_several(std::uint32_t period) const;
  Row only_row_of(std::uint32_t period) const;
  Row widest_row_of(std::uint32_t slot, std::uint32_t period) const;
  bool is_apart(const Row& row, std::uint32_t period) const;
  std::uint32_t visits_of(std::uint32_t slot, std::uint32_t period) const;
  bool is_left_equally_often(std::uint32_t slot, std::uint32_t period) const;
  std::uint32_t shortest_run(std::uint32_t slot, std::uint32_t period) const;
  std::uint32_t longest_run(std::uint32_t slot, std::uint32_t period) const;
  std::uint32_t waits_since(std::uint32_t slot, std::uint32_t period) const;
  bool works_between(std::uint32_t period) const;
  std::optional<std::uint32_t> rounds_of(std::uint32_t period, Seen seen) const;
  std::uint32_t known_rounds(std::uint32_t period) const;
  const About& told_of(std::uint32_t period, std::uint32_t place, std::uint32_t rounds_ago) const;
  bool meets_all(std::uint32_t period) const;
  bool come_round(std::uint32_t period, std::uint32_t rounds, std::uint32_t sequences) const;
  bool meets_somebody_always(std::uint32_t period, std::uint32_t rounds) const;
  bool meets_somebody_again(std::uint32_t period, std::uint32_t rounds) const;
  Works works_in(std::uint32_t period, std::uint32_t rounds, std::uint32_t times) const;
  bool is_loop_over_partners(std::uint32_t period, std::uint32_t rounds, std::uint32_t times) const;
  static bool is_short(wire::Step steps) { return steps <= wire::Step{kTimesOfAnother}; }
  bool has_come(std::uint32_t period, std::uint32_t times) const;
  bool is_too_early(const Row& row, std::uint32_t period, std::uint32_t rounds) const;
  wire::Step adopt_if_clear(const Row& row, std::uint32_t period, Seen seen);
  wire::Step adopt(const Row& row, std::uint32_t period, std::uint32_t rounds);
  void end_steps_with(const Row& row);
  void find_alternatives();
  void expect_alternatives();
  void note_alternatives();
  std::uint32_t rounds_by_calls(std::uint32_t slot, std::uint32_t times) const;
  std::uint32_t rounds_before(std::uint32_t slot) const;
  void keep_alternatives();
  Row alternative() const;
  bool comes_without_anchor(std::uint32_t slot) const {
    const Place& place = places_[slot];
    return place.in_round > 0 && place.since == next_ && place.rounds_lately() > 1 && noted_ != wire::kNoStep;
  }
  wire::Step end_steps_elsewhere(std::uint32_t slot);
  bool are_steps_meetings(std::uint32_t slot);
  wire::Step adopt_meetings(const Place& place);
  std::int32_t left_in_row(const Row& row, std::uint32_t period) const;
  std::uint32_t rows_before(const Row& row, const Count& count) const;

  std::uintptr_t depth_ = kDepth;            ///< 0: addresses alone are places.
  std::uint64_t look_at_depths_ = kHistory;  ///< Places remembered, until it is looked whether that is to be.
  CallSite anchor_;                          ///< Its place 0: none yet.
  std::uint32_t since_anchor_ = 0;           ///< Waits.
  std::uint32_t patience_ = 0;               ///< So many, before another sequence is looked for.
  std::uint32_t passing_ = 0;                ///< So many, before a call may be more than one that passes.
  std::uint32_t whole_ = 0;                  ///< A sequence that was found, which may hold a loop; 0: none.
  std::uint32_t looks_within_ = 0;           ///< Places that are looked at for that loop.
  std::uint32_t unsearched_ = 0;             ///< Calls that came since another sequence was looked for.
  std::uint32_t others_ = 0;                 ///< Waits between two of the anchor's.
  bool ends_with_meeting_ = false;           ///< A call that all take part in.
  bool has_others_ = false;                  ///< The same, or calls that start requests.
  std::int32_t run_ = 0;                     ///< How often the anchor was left in a row.
  std::int32_t run_length_ = 1;     ///< With which a step begins; kAnyLength: with the last, whichever that is.
  bool keeps_row_ = false;          ///< It ends requests, which others start: a row of it is of one step.
  std::uint32_t in_row_count_ = 0;  ///< Places that a row goes on behind.
  std::uint32_t rounds_ = 1;        ///< Sequences of a step, over partners.
  std::uint32_t round_ = 0;         ///< How many of them are over.
  std::uint32_t cycles_ = 0;        ///< Sequences that were found.
  wire::Step next_ = 0;
  Meetings meetings_;
  std::uint32_t previous_slot_ = kPlaces;  ///< Of the call before, for what is counted; kPlaces: the anchor, or none.
  std::uint32_t places_known_ = 0;
  std::uint64_t remembered_ = 0;
  std::uintptr_t in_row_[kMostInRow] = {};
  Place places_[kPlaces] = {};
  Place places_by_depth_[kPlaces] = {};  ///< As they were until addresses alone became places.
  Run history_[kHistory] = {};
  std::uint32_t calls_in_row_ = 0;  ///< Of the latest run.
  std::uint32_t first_in_row_ = 0;  ///< Whom its first call is for.
  About row_[kKnownCalls] = {};     ///< Its latest calls, in a ring.
  std::uint32_t period_ = 0;        ///< Of the sequence that was found, which the history ends with while steps go on.
  wire::Step before_ = 0;           ///< Steps, where the loop does not count all that have ever come.
  wire::Step found_ = 0;            ///< The step in which it was found, or its steps began to end elsewhere.
  wire::Step noted_ = 0;  ///< The first behind that, with which alternatives were noted; kNoStep: that is to come.
  Alternative alternatives_[kPlaces] = {};
};

}  // namespace idlewave::mpi::habits
