#pragma once

#include <cstdint>
#include <span>

#include "probe/shm/run.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::client {

/// Sums short phases of a rank that follow one another, from one event that was told to the next. The agent may look at
/// the sums at any time (shm::SharedRun). One thread.
class RunSum {
 public:
  static constexpr std::int64_t kLongPhase = 50'000;      ///< ns; is told by itself.
  static constexpr std::int64_t kLongestRun = 2'000'000;  ///< ns; a picture's finest columns are of this size.
  static constexpr std::int64_t kShortStep = 100'000;     ///< ns; may be left out.
  static constexpr std::uint64_t kFew = 4;                ///< Phases that are told one by one all the same.

  void attach(shm::SharedRun& shared) { shared_ = &shared; }

  /// `event` was told, and lies before `position` of the ring: what follows it may be summed.
  void begin(std::uint64_t position, const wire::Event& event);
  /// Nothing is summed until begin() says so.
  void stop();

  /// Takes the event in. False: the event is to be told by itself, behind the run. A step that is taken in is one that
  /// comes soon after another and has no phase in it that was told: it will never be told, and counts with the step before.
  bool add(const wire::Event& event) {
    if (event.kind == wire::EventKind::kSwitch) [[likely]]
      return add_phase(event);
    return event.kind == wire::EventKind::kStep && add_step(event.time.count());
  }

  const shm::Run& run() const { return run_; }
  bool is_few() const { return run_.count <= kFew && !has_step_; }
  /// The events of a run that is_few().
  std::span<const wire::Event> events() const { return {events_, run_.count}; }

 private:
  bool add_step(std::int64_t at);
  bool add_phase(const wire::Event& event);
  std::uint32_t place_of(wire::Phase phase);

  static constexpr std::int64_t kNever = -(std::int64_t{1} << 62);

  shm::SharedRun* shared_ = nullptr;
  shm::Run run_;
  std::int64_t begin_ns_ = kNever;
  std::uint32_t latest_ = 0;  ///< Where time was added last.
  std::int64_t step_ns_ = 0;  ///< When the latest step began.
  bool step_is_due_ = true;   ///< The next one is to be told.
  bool has_step_ = false;     ///< The run, that is not told.
  wire::Event events_[kFew];
};

inline bool RunSum::add_phase(const wire::Event& event) {
  const std::int64_t at = event.time.count();
  const std::int64_t length = at - run_.end_ns;
  if (length >= kLongPhase || at - begin_ns_ >= kLongestRun) [[unlikely]]
    return false;
  const std::uint32_t place = place_of(run_.current());
  if (place == run_.used()) [[unlikely]] {
    if (place == shm::kRunPhases) return false;
    run_.add(run_.current());
  }
  if (run_.count < kFew) events_[run_.count] = event;
  ++run_.count;
  run_.ns[place] += length;
  run_.end_ns = at;
  run_.go_on_with(event.phase);
  shared_->grow(run_, place, latest_);
  latest_ = place;
  return true;
}

inline std::uint32_t RunSum::place_of(wire::Phase phase) {
  std::uint32_t place = 0;
  while (place < run_.used() && run_.phase(place) != phase) ++place;
  return place;
}

}  // namespace idlewave::client
