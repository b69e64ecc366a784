#pragma once
// The monitor without its carriers: frames in, model out. What `run`, `replay --once` and `report` share, whether
// anybody looks or not.

#include <deque>
#include <optional>
#include <string>

#include "monitor/analysis/program/ghost.h"
#include "monitor/analysis/session/findings.h"
#include "monitor/ingest/ingest.h"
#include "monitor/link/link.h"
#include "monitor/timeline/timeline.h"
#include "monitor/view/map/rhythm.h"
#include "monitor/view/model.h"

namespace idlewave::cli {

using wire::Nanoseconds;

/// The page of a lesson that somebody else gives.
class LessonShown final : public ingest::Sink {
 public:
  wire::Status roster(const std::string& /*node*/, const wire::Roster& roster) override {
    if (roster.lesson && (!page_ || page_->number < roster.lesson->number)) page_ = roster.lesson;
    return wire::ok();
  }
  /// The latest; nothing: none was shown.
  const std::optional<wire::LessonPage>& page() const { return page_; }

 private:
  std::optional<wire::LessonPage> page_;
};

/// One thread. No clock: `now` is the monitor's time, as given to the link.
class Observer {
 public:
  Observer(std::string session, std::uint64_t memory_budget);

  void accept(const link::Delivery& delivery);
  /// While what it returns is there, nobody reads: many deliveries cost less then.
  [[nodiscard]] ingest::Ingest::Gathering gather() { return ingest::Ingest::Gathering(ingest_); }
  /// `sink` is borrowed, and told of what is accepted from now on, whatever the memory budget.
  void add(ingest::Sink& sink) { ingest_.add(sink); }
  /// To be called after each delivery by whoever refreshes: states, waves, the rhythm and what causes are found by are looked for
  /// at moments of the session, with what was known then, so that they do not depend on when somebody looked.
  void follow();
  /// Blocks of the recording that could not be read are a loss like any other.
  void note_damage(const wire::FrameLogDamage& damage);
  /// Findings and remarks for the `window` before `until` (session time); the rate of events at `now`. With a `past`
  /// moment findings are those of then, while remarks still tell what is new.
  void refresh(Nanoseconds now, Nanoseconds until, Nanoseconds window, std::optional<Nanoseconds> past = {});

  /// Some 10 ms of learning at a time: another look finds more as long as something is learnt.
  void look_for_ghost(analysis::Window window) {
    ghost_.observe(window, analysis::LookBudget(analysis::LookBudget::kAtOnce));
  }
  void learn_ghost() { ghost_.learn(analysis::LookBudget(analysis::LookBudget::kAtOnce)); }
  bool is_learning_ghost() const { return ghost_.is_learning(); }
  /// Of the latest window that was looked at.
  const wire::Result<analysis::program::Ghost>& ghost() const { return ghost_.found(); }

  timeline::Timeline& timeline() { return timeline_; }
  const timeline::Timeline& timeline() const { return timeline_; }
  const analysis::session::Findings& findings() const { return findings_; }
  /// As found at the latest look, whatever moment findings are of.
  const std::vector<analysis::waves::Wave>& waves() const { return waves_; }
  const analysis::domains::DomainStates& states() const { return states_; }
  const analysis::session::Narrator& narrator() const { return narrator_; }
  const std::optional<wire::LessonPage>& lesson_shown() const { return lesson_.page(); }
  /// What the map's columns are locked to; 0: nothing yet.
  Nanoseconds rhythm() const { return rhythm_.step(); }
  double events_per_second() const { return events_per_second_; }
  /// Session time plus this is when its events were received at best; 0 before the first event.
  Nanoseconds transit() const { return timeline_.empty() ? Nanoseconds{0} : least_transit_; }
  /// How much later than at best the newest data came: independent of what the two clocks say.
  Nanoseconds lag(Nanoseconds now) const;

 private:
  analysis::session::Findings find(Nanoseconds until, Nanoseconds window) const;
  void learn();
  Nanoseconds last_in_full(Nanoseconds until, Nanoseconds window) const;
  void measure_rate(Nanoseconds now);

  timeline::Timeline timeline_;
  ingest::Ingest ingest_;
  LessonShown lesson_;
  analysis::domains::DomainStates states_;
  analysis::waves::WaveWatch wave_watch_;
  std::vector<analysis::waves::Wave> waves_;  ///< As found at the latest look.
  Nanoseconds next_look_{};                   ///< For waves and the rhythm; session time.
  Nanoseconds next_lesson_{};                 ///< The same, for what is learnt between looks.
  view::map::Rhythm rhythm_;
  bool saw_end_ = false;
  analysis::session::Findings findings_;
  analysis::causes::CauseFinder causes_;
  analysis::program::GhostFinder ghost_;
  analysis::session::MpiUseFinder mpi_;
  analysis::session::Narrator narrator_;
  std::deque<std::pair<Nanoseconds, std::uint64_t>> counts_;  ///< Events known at some moments of the last second.
  double events_per_second_ = 0;
  Nanoseconds least_transit_ = Nanoseconds::max();  ///< Smallest (received at - session time) seen.
};

}  // namespace idlewave::cli
