#pragma once
// One watched session: a link, what it has brought, and what the operator does with it. The loops around it (screen,
// headless, once) own the clock and the terminal.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "monitor/cli/observer.h"
#include "monitor/cli/reading_clock.h"
#include "monitor/host/host_record.h"
#include "monitor/lesson/tutor.h"
#include "monitor/link/link.h"
#include "monitor/view/keys/update.h"
#include "monitor/view/screen/screen.h"

namespace idlewave::cli {

/// One thread.
class Monitor {
 public:
  using OpenLink = std::function<wire::Result<std::unique_ptr<link::Link>>()>;

  struct Options {
    std::string session;                   ///< Empty: that of the first sender.
    std::string label;                     ///< Program or lesson, for the title.
    std::string starting;                  ///< What is being started and has yet to report, for the empty screen.
    std::optional<lesson::Course> lesson;  ///< With a page at least.
    std::uint64_t memory = 512u << 20;
    double replay_speed = 1;
    bool ghost = false;         ///< The map begins with it.
    bool ends_program = false;  ///< Quitting ends the program of `hosted`, so it asks first.
    bool has_joined = false;    ///< What is watched was started by somebody else, and needs nothing of ours.
    /// Session whose host (monitor/host/host_record.h) is to be looked at; empty: there is none.
    std::string hosted;
    /// Replays: opens the recording anew, for going back.
    OpenLink reopen;
  };

  Monitor(std::unique_ptr<link::Link> link, Options options);

  /// Takes what has arrived; refreshes findings at most four times a second. True if the screen may have changed.
  bool work(Nanoseconds now);
  void refresh(Nanoseconds now);
  /// Replays: the recording is read up to this moment of the session before it is played. Each work() reads a little, so
  /// that keys are looked at in between.
  void load_until(Nanoseconds session_time);
  bool is_loading() const { return loading_.has_value(); }
  /// Nobody looks on: who sends may let things gather, and nothing is looked for but now and then.
  void be_patient();
  /// Nor is anything shown in the end: what arrives is kept, and nothing is looked for in it.
  void look_away() { looks_ = false; }
  /// Little has come lately: it may gather where it is.
  bool is_calm() const { return deliveries_.size() <= kFewFrames; }
  /// Nobody will say more, for a reason that is known before the link can tell.
  void lose(std::string why) { lost_ = std::move(why); }
  /// On the screen, until the next key.
  void say(std::string text, view::Tone tone);
  void stop_at(Nanoseconds session_time);  ///< What comes after it is not shown, as after the pause key.
  void wait(Nanoseconds timeout, int extra_fd) { link_->wait(timeout, extra_fd); }

  /// `size` and `look` are those of the screen on which the key was pressed.
  void press(const view::Key& key, view::paint::Size size, const view::Look& look, Nanoseconds now);
  view::paint::Canvas screen(view::paint::Size size, const view::Look& look);
  /// The same with all that is still being learnt.
  view::paint::Canvas last_screen(view::paint::Size size, const view::Look& look);

  wire::Status start_recording(const std::string& path, Nanoseconds now);
  wire::Status stop_recording();
  /// Of a program that has not begun: its file's name is free for the next try.
  void discard_recording() { link_->discard(); }
  /// Chooses the id, which it returns. The error says why it could not be sent.
  wire::Result<wire::CommandId> send(wire::Command command, Nanoseconds now);

  enum class Leaving { kNo, kQuit, kDetach };
  Leaving leaving() const { return leaving_; }
  bool asks_before_quitting() const { return !info_.ends_with_us.empty() && !state_.form; }
  bool has_ended() const;  ///< The stream or the recording is complete.
  link::LinkStatus link_status() const { return link_->status(); }
  const link::Recorder& recorder() const { return *link_; }
  Observer& observer() { return *observer_; }
  const Observer& observer() const { return *observer_; }
  /// Null where there is no lesson.
  const lesson::Tutor* tutor() const { return tutor_ ? &*tutor_ : nullptr; }
  /// As the keys of a lesson do. Error: what would be accepted.
  wire::Status answer_lesson(std::string_view text);
  void turn_lesson(int pages);
  /// The program that a lesson plays has ended, and printed this; null: nothing that could be read.
  void end_program_of_lesson(support::Json results);

 private:
  static constexpr Nanoseconds kRefreshPeriod = std::chrono::milliseconds(250);
  static constexpr Nanoseconds kPatientPeriod = std::chrono::seconds(2);  ///< Of a monitor that nobody looks at.
  static constexpr std::size_t kFewFrames = 64;

  /// On the way to where a replay begins to play.
  struct Loading {
    ReadingClock clock;
    Nanoseconds until;                 ///< Session time.
    std::optional<Nanoseconds> began;  ///< Monitor's clock.
    Nanoseconds look_at{};             ///< Session time: findings are made again.
  };

  void take(Nanoseconds now);
  bool load(Nanoseconds now);
  void arrive(Nanoseconds now);
  view::Model model() const;
  Nanoseconds shown_moment() const;
  void describe_link(Nanoseconds now);
  void describe_host();
  void toggle_recording(bool on, Nanoseconds now);
  std::string recording_path() const;
  std::string file_stem() const;
  void save_screen(view::paint::Size size, const view::Look& look);
  void seek(Nanoseconds session_time);
  bool learns_ghost() const;
  void learn_ghost();
  void look_for_ghost();
  void follow_lesson();
  void show_lesson();
  void look_at_lesson();
  void open_page();
  void carry_out(const view::Effect& effect, view::paint::Size size, const view::Look& look, Nanoseconds now);

  Options options_;
  std::string lost_;  ///< Why; empty: the link knows.
  std::unique_ptr<link::Recorder> link_;
  std::unique_ptr<Observer> observer_;
  std::optional<lesson::Tutor> tutor_;
  wire::LessonPage shown_;                  ///< To those who look on.
  std::vector<link::Delivery> deliveries_;  ///< Kept between calls for its memory.
  view::State state_;
  view::SessionInfo info_;
  view::paint::Size size_;  ///< Of the screen that was last asked for: figures are those of the moment that it shows.
  view::Look look_;
  std::optional<host::HostRecord> host_;
  std::optional<Loading> loading_;
  bool has_seen_end_ = false;
  bool looks_ = true;
  Nanoseconds next_refresh_{}, refresh_period_ = kRefreshPeriod;
  Leaving leaving_ = Leaving::kNo;
};

}  // namespace idlewave::cli
