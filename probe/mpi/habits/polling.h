#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "probe/wire/vocabulary.h"

namespace idlewave::mpi::habits {

/// What a call that asks has been told.
enum class Answer : std::uint8_t {
  kNotYet,
  kSeen,     ///< It is there, and some other call will take it: a message by MPI_Iprobe, a request that stays.
  kDone,     ///< What was waited for is over.
  kNothing,  ///< There was nothing to ask for, or the call has failed.
};

/// Tells waiting from working in a program that asks again and again (MPI_Test, MPI_Iprobe) whether something is there. A
/// place that asks waits if, between an answer in vain and the next question, the rank does
///
/// - nothing, up to 3 us, as sched_yield takes with nobody else on the core;
/// - nothing, where it is longer, and the process has used less than half of a processor in it, and not 50 us, as one that
///   sleeps or hands its core on, and unlike one that works and has lost its core for some time, or waits for threads of its
///   own. That is looked at for eight pauses of a place that are about as long as each other, then each time that their number
///   has doubled: it takes two system calls of some 0.2 us. Others count as those that are as long, or as the next shorter
///   ones, up to twice as long as the longest, and up to 32 times where none of these was found working, as somebody else may
///   have had the core.
///
/// It asks in passing where it does not ask until the answer comes: where the rank goes on to other calls without it, or asks
/// further when nothing is left. What it does between two such questions may be its work, and is taken for it.
///
/// A question that is answered counts as a call that waits, at its place or at that of one of those that are asked with no
/// other call between, in whatever order they come. Where the rank waits in a call without an answer (it looks for a
/// while and blocks then, or works, and waits if that was not enough), both are one place. Where it asks further when
/// nothing is left, or waits also behind an answer, or at several places, answers do not count, for the call behind does. No
/// allocation; one thread.
class Polling {
 public:
  /// What all threads of the process have used of processors, in ns; below 0: not known.
  using ProcessorTime = std::int64_t (*)();
  explicit constexpr Polling(ProcessorTime processor_time) : processor_time_(processor_time) {}

  /// The latest call asked, and what comes next tells something about it.
  bool is_open() const { return state_ != State::kClosed; }
  /// In vain.
  bool goes_on() const { return state_ == State::kInVain; }
  /// When that call was over.
  wire::Nanoseconds left_at() const { return left_at_; }

  /// A question begins while goes_on(). Whether the rank has done nothing since the one before.
  bool ask_again(wire::Nanoseconds now);
  /// Another call begins while is_open(), at `place` where it waits for requests; 0: it does not. The place as which those
  /// answers counted that count as of `place` from now on; 0: none do that did not before.
  std::uintptr_t turn_away(std::uintptr_t place) {
    const State before = std::exchange(state_, State::kClosed);
    if (before == State::kAnswered && place != 0) site_->never_counts = true;
    if (before != State::kInVain) return 0;
    ++site_->broken;
    if (place == 0 || site_->waits_at == place) return 0;
    if (site_->waits_at != 0) site_->never_counts = true;
    if (site_->never_counts) return 0;
    site_->waits_at = place;
    return std::exchange(site_->counts_as, place);
  }

  /// A question has been answered in vain, at that place. Whether the rank is taken to do nothing until the next one.
  bool ask_in_vain(std::uintptr_t place, wire::Nanoseconds now);
  /// It has been answered by kDone. The place by which it counts as a call that waits; 0: it was asked in passing.
  std::uintptr_t finish(std::uintptr_t place);
  /// It has been answered by kSeen.
  void see(std::uintptr_t place) { answer(site_of(place)); }
  /// It has been answered by kNothing.
  void ask_for_nothing(std::uintptr_t place) {
    if (state_ == State::kAnswered && site_->place == place) {
      ++site_->broken;
      site_->never_counts = true;
    }
    state_ = State::kClosed;
  }

 private:
  static constexpr std::uint32_t kSites = 128;                            ///< A power of two.
  static constexpr wire::Nanoseconds kNothing{3'000}, kMostUsed{50'000};  ///< Between two questions.
  static constexpr std::uint32_t kEnough = 2, kMost = 4, kLooks = 8, kFewBroken = 8;
  static constexpr std::uint32_t kManyPauses = 4096;
  static constexpr std::size_t kLengths = 8;  ///< The last ones take 50 ms and more.

  enum class State : std::uint8_t { kClosed, kInVain, kAnswered };
  enum class Pause : std::uint8_t { kIdle, kBusy, kUnknown };
  /// Of one place, about as long as each other.
  struct LongPauses {
    std::uint32_t seen = 0;
    std::uint16_t looked_at = 0, asleep = 0;

    void note(bool is_asleep);
    bool is_known() const { return looked_at >= kEnough; }
    bool sleeps() const { return is_known() && kMost * asleep >= (kMost - 1) * looked_at; }
  };
  struct Site {
    std::uintptr_t place = 0;
    std::uintptr_t counts_as = 0;
    std::uint32_t counts_since = 0;  ///< Its number among those that have counted, from 1; 0: it has not.
    std::uintptr_t waits_at = 0;     ///< Where it has waited without an answer; 0: nowhere.
    std::uint32_t idle = 0, busy = 0;
    std::uint32_t finished = 0, broken = 0;
    LongPauses long_pauses[kLengths] = {};
    wire::Nanoseconds longest_asleep{};
    bool wants_look = false;
    bool never_counts = false;

    bool is_in_passing() const { return kFewBroken * broken > finished; }
    bool expects_idle() const { return idle >= kEnough && idle >= kMost * busy; }
    bool is_like_sleep(std::size_t length, wire::Nanoseconds pause) const;
  };

  Site& site_of(std::uintptr_t place);
  void answer(Site& site) {
    site_ = &site;
    state_ = State::kAnswered;
    ++site.finished;
  }
  void join(Site& site);
  Pause judge(wire::Nanoseconds pause);
  static std::size_t length_of(wire::Nanoseconds pause);

  ProcessorTime processor_time_;
  std::uint32_t counting_ = 0;
  State state_ = State::kClosed;
  Site* site_ = nullptr;  ///< Of the latest question.
  wire::Nanoseconds left_at_{};
  std::int64_t used_before_ = -1;
  Site sites_[kSites] = {};
};

}  // namespace idlewave::mpi::habits
