#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

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
  /// comes soon after another: unless it is_due_before() something, it counts with the step before.
  bool add(wire::Event event);

  /// The latest step was taken in and goes on, and is to be told behind the run and ahead of `event`, which was not taken in:
  /// else what is long would be told of another step, and the last step of a program not at all.
  bool is_due_before(const wire::Event& event) const {
    if (!is_step_untold_ || event.kind == wire::EventKind::kStep) return false;
    const std::int64_t at = event.time.count();
    return event.kind != wire::EventKind::kSwitch || at - run_.end_ns >= kLongPhase || at - step_ns_ >= kShortStep;
  }
  /// That step, as if it had begun when the run ends.
  wire::Event latest_step() const {
    return {wire::Nanoseconds{std::max(step_ns_, run_.end_ns)}, step_, wire::EventKind::kStep, run_.current()};
  }

  /// The same of a switch to `phase`, where it takes no more than that: of a phase that has come before in a run that has grown
  /// long. `before`: the phase that goes on until then. False: call add(), if there is a run.
  [[gnu::always_inline]] bool add_to_many(wire::Nanoseconds time, wire::Phase phase, wire::Phase before) {
    const std::int64_t at = time.count();
    const std::int64_t lasted = at - run_.end_ns;
    const std::size_t place = places_[static_cast<std::size_t>(before)];
    if (at >= many_until_ns_ || lasted >= kLongPhase || place == kNoPlace) [[unlikely]]
      return false;
    shared_->grow(run_, {at, lasted, phase, before, place, std::exchange(latest_, place)});
    return true;
  }

  const shm::Run& run() const { return run_; }
  bool is_few() const { return run_.count <= kFew && !has_step_; }
  /// The events of a run that is_few().
  std::span<const wire::Event> events() const { return {events_, run_.count}; }

 private:
  bool add_step(const wire::Event& event);
  bool add_phase(wire::Event event);
  bool is_short(wire::Event event) const {
    const std::int64_t at = event.time.count();
    return at - run_.end_ns < kLongPhase && at < until_ns_;
  }
  std::uint8_t place_of_new(wire::Phase phase);
  void forget_places();

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  static constexpr std::uint8_t kNoPlace = 0xff;

  shm::SharedRun* shared_ = nullptr;
  shm::Run run_;
  std::int64_t until_ns_ = kNever;       ///< The run is told at the first event from here on.
  std::int64_t many_until_ns_ = kNever;  ///< The same of a run of more than a few phases.
  std::size_t latest_ = 0;               ///< Where time was added last.
  std::int64_t step_ns_ = 0;             ///< When the latest step began.
  bool step_is_due_ = true;              ///< The next one is to be told.
  std::uint64_t step_ = 0;               ///< Its number.
  bool is_step_untold_ = false;
  bool has_step_ = false;  ///< The run, that is not told.
  wire::Event events_[kFew];
  std::uint8_t places_[wire::kPhaseLimit] = {};  ///< By phase, of the run.
};

}  // namespace idlewave::client
