#pragma once
// What of a nonblocking communication went on while its caller worked, from measured times. Pure.
//
// schubert-2011, listing 2 and Fig. 4: a call that starts a communication, work, and a wait for the communication take
// max(T_work, T_comm) where it goes on by itself, and T_work + T_comm where it goes on inside MPI calls alone. Both are
// the same line with another h, the share of the communication that the work hides:
//
//   T_total = T_work + T_comm - h min(T_work, T_comm)

#include <cstdint>
#include <span>
#include <string_view>

namespace idlewave::progress {

/// Seconds of one trial.
struct Trial {
  double work = 0;
  double total = 0;  ///< From before the first call until after the last.
};

/// T_comm and h.
struct Line {
  double communication = 0;  ///< Seconds.
  double hidden = 0;         ///< 1: all of it, 0: nothing.

  double total_at(double work) const;
};

/// The line with the smallest sum of absolute distances: trials that were disturbed move it little, as long as they are
/// the fewer. At least one trial, and one that lasts longer than its work. O(trials log(trials)).
Line fit(std::span<const Trial> trials);

enum class Verdict { kByItself, kInCalls, kPartly, kCantBeTold };

struct Finding {
  Line line;
  double least_hidden = 0;  ///< These two hold 90 of 100 lines through trials drawn again from those that were made.
  double most_hidden = 0;
  Verdict verdict = Verdict::kCantBeTold;
};

/// By itself: more than two thirds hidden, with that certainty; inside calls alone: less than one third. What lies
/// between, or on a border, is partly; where the range is wider than a third, it can't be told. The same trials give
/// the same finding.
Finding judge(std::span<const Trial> trials);

/// "progresses by itself"
std::string_view in_words(Verdict verdict);
/// "by itself", as JSON has it.
std::string_view word_of(Verdict verdict);

}  // namespace idlewave::progress
