#pragma once
// What an engine tells in the order of time of each rank, in the order of time of all.

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/sim/core/recorder.h"

namespace idlewave::sim::core {

/// Holds back what it hears until nothing earlier can come, as the engine says by nothing_before(). Keeps what is told
/// ahead of that: of a rank about a step. One thread.
class InOrder final : public Recorder {
 public:
  explicit InOrder(Recorder& recorder) : recorder_(recorder) {}  ///< Outlives this.

  void step_begins(Rank rank, Step step, double time) override { keep({time, told_++, step, rank, {}}); }
  void enters(Rank rank, Step step, Phase phase, double time) override { keep({time, told_++, step, rank, phase}); }
  void nothing_before(double time) override;

  bool empty() const { return notes_.empty(); }
  double last() const { return last_; }  ///< Time of the last one that was passed on; 0 before.

 private:
  struct Note {
    double time;
    std::uint64_t number;  ///< In the order in which they were heard.
    Step step;
    Rank rank;
    std::optional<Phase> phase;  ///< None: a step begins.
  };
  void keep(const Note& note);

  Recorder& recorder_;
  std::vector<Note> notes_;  ///< A heap with the earliest in front.
  std::uint64_t told_ = 0;
  double last_ = 0;
};

}  // namespace idlewave::sim::core
