#include "monitor/cli/monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "monitor/cli/lesson_board.h"
#include "monitor/cli/order_of_noise.h"
#include "monitor/cli/progress.h"
#include "monitor/cli/reporting/report.h"
#include "monitor/host/names.h"
#include "monitor/host/programs.h"
#include "monitor/host/provenance.h"
#include "monitor/view/keys/forms.h"
#include "monitor/view/layout/time_window.h"

namespace idlewave::cli {
namespace {

/// At moments of the session, so that what is said does not depend on how fast this machine is.
constexpr int kLooksWhileLoading = 16;
constexpr Nanoseconds kAveragingWindow = std::chrono::seconds(5);

view::LinkCondition condition_of(link::LinkState state) {
  switch (state) {
    case link::LinkState::kWaiting: return view::LinkCondition::kWaiting;
    case link::LinkState::kLive: return view::LinkCondition::kLive;
    case link::LinkState::kEnded: return view::LinkCondition::kEnded;
    case link::LinkState::kLost: return view::LinkCondition::kLost;
    case link::LinkState::kRefused: return view::LinkCondition::kRefused;
  }
  return view::LinkCondition::kWaiting;
}

}  // namespace

Monitor::Monitor(std::unique_ptr<link::Link> link, Options options)
    : options_(std::move(options)),
      link_(std::make_unique<link::Recorder>(std::move(link))),
      observer_(std::make_unique<Observer>(options_.session, options_.memory)) {
  info_.name = options_.session;
  info_.label = options_.label;
  info_.can_detach = !options_.hosted.empty() || options_.has_joined;
  state_.ghost = options_.ghost;
  if (!options_.lesson) return;
  tutor_.emplace(*options_.lesson, [this](std::string_view path, analysis::Window window) {
    return reporting::lesson_finding(observer_->timeline(), window, path);
  });
  open_page();
}

/// While it is paused, nothing is told that came later.
view::Model Monitor::model() const {
  const std::vector<analysis::session::Remark>& all = observer_->narrator().remarks();
  std::span<const analysis::session::Remark> remarks = all;
  if (state_.paused) {
    const auto later = std::ranges::upper_bound(all, state_.paused_at, {}, &analysis::session::Remark::at);
    remarks = remarks.first(std::size_t(later - all.begin()));
  }
  return {observer_->timeline(), observer_->findings(), remarks, info_, state_.ghost ? &observer_->ghost() : nullptr};
}

bool Monitor::has_ended() const { return link_->status().state == link::LinkState::kEnded; }

void Monitor::take(Nanoseconds now) {
  deliveries_.clear();
  link_->receive(now, deliveries_);
  for (const link::Delivery& delivery : deliveries_) {
    observer_->accept(delivery);
    if (looks_) observer_->follow();
  }
}

bool Monitor::work(Nanoseconds now) {
  if (loading_) return load(now);
  take(now);
  if (learns_ghost()) learn_ghost();
  // The end is acknowledged with the next look, and what the host has left to read is gone then.
  const bool ends = has_ended() && !std::exchange(has_seen_end_, true);
  const bool due = ends || now >= next_refresh_;
  if (due)
    refresh(now);
  else if (info_.replay)
    describe_link(now);  // Its place stands beside the time of what was taken.
  return due || !deliveries_.empty();
}

void Monitor::be_patient() {
  link_->set_pace(kRefreshPeriod);
  refresh_period_ = kPatientPeriod;
}

void Monitor::load_until(Nanoseconds session_time) {
  link::ReplayControl* replay = link::replay_control(link_->inner());
  if (replay == nullptr || session_time <= Nanoseconds{0}) return;
  replay->set_speed(1, Nanoseconds{0});
  loading_.emplace(Loading{.clock = ReadingClock(*replay), .until = session_time, .began = {}, .look_at = {}});
}

bool Monitor::load(Nanoseconds now) {
  take(loading_->clock.now());
  const Nanoseconds reached = observer_->timeline().now();
  if (reached >= loading_->until || has_ended()) {
    arrive(now);
    return true;
  }
  loading_->clock.advance();
  if (!loading_->began) loading_->began = now;
  const Nanoseconds begin = observer_->timeline().begin();
  if (reached >= loading_->look_at && !observer_->timeline().empty()) {
    loading_->look_at = reached + (loading_->until - begin) / kLooksWhileLoading;
    refresh(now);
  } else if (now < next_refresh_) {
    return false;
  }
  next_refresh_ = now + refresh_period_;
  describe_link(now);
  const auto way = std::min(loading_->until, info_.replay->duration);
  info_.loading = progress_in_words(share_of(reached - begin, way - begin), now - *loading_->began);
  return true;
}

/// From here on it is played by the monitor's clock.
void Monitor::arrive(Nanoseconds now) {
  link::ReplayControl* replay = link::replay_control(link_->inner());
  replay->pause(true, loading_->clock.now());
  replay->set_speed(options_.replay_speed, now);
  replay->pause(info_.replay && info_.replay->paused, now);
  loading_.reset();
  info_.loading.clear();
  refresh(now);
}

void Monitor::refresh(Nanoseconds now) {
  next_refresh_ = now + refresh_period_;
  if (!looks_) return describe_link(now);
  const Nanoseconds newest = observer_->timeline().now(), moment = loading_ ? newest : shown_moment();
  observer_->refresh(now, newest, kAveragingWindow, moment < newest ? std::optional(moment) : std::nullopt);
  // Whoever looks at the past does so in peace: the columns stay as they are.
  if (state_.follow) info_.rhythm = observer_->rhythm();
  look_for_ghost();
  follow_lesson();
  describe_link(now);
}

/// Of somebody else.
void Monitor::look_at_lesson() {
  const auto& page = observer_->lesson_shown();
  info_.lesson = page ? std::optional(shown_board(*page)) : std::nullopt;
}

void Monitor::follow_lesson() {
  if (!tutor_) return look_at_lesson();
  tutor_->observe(observer_->timeline(), observer_->waves(), observer_->states());
  info_.lesson = lesson_board(*tutor_);
  show_lesson();
}

/// Once for each thing that it says.
void Monitor::show_lesson() {
  const wire::LessonPage page = page_to_show(*info_.lesson, shown_.number);
  if (page == shown_) return;
  shown_ = page;
  ++shown_.number;
  link_->show(shown_);
}

/// The cursor stands on the rank that the page is about.
void Monitor::open_page() {
  info_.lesson = lesson_board(*tutor_);
  if (const auto rank = rank_of_page(*tutor_)) state_.cursor_rank = *rank;
}

wire::Status Monitor::answer_lesson(std::string_view text) {
  if (!tutor_) return wire::Error{"this session is no lesson"};
  const wire::Status taken = tutor_->answer(text);
  follow_lesson();
  return taken;
}

void Monitor::turn_lesson(int pages) {
  if (!tutor_) return;
  tutor_->turn(pages);
  follow_lesson();
  open_page();
}

void Monitor::end_program_of_lesson(support::Json results) {
  if (!tutor_) return;
  tutor_->program_ended(std::move(results));
  follow_lesson();
}

bool Monitor::learns_ghost() const { return state_.ghost && observer_->is_learning_ghost(); }

/// Shown once it is known.
void Monitor::learn_ghost() {
  observer_->learn_ghost();
  if (!observer_->is_learning_ghost()) look_for_ghost();
}

void Monitor::look_for_ghost() {
  if (!state_.ghost) return;
  if (const auto window = view::screen::ghost_window(state_, model(), size_, look_)) observer_->look_for_ghost(*window);
}

void Monitor::describe_link(Nanoseconds now) {
  const link::LinkStatus status = link_->status();
  info_.link = condition_of(status.state);
  const bool starts = info_.link == view::LinkCondition::kWaiting && !options_.starting.empty();
  info_.link_detail = starts ? options_.starting : status.detail;
  if (!lost_.empty() && info_.link != view::LinkCondition::kEnded) {
    info_.link = view::LinkCondition::kLost;
    info_.link_detail = lost_;
  }
  describe_host();
  info_.lag = observer_->lag(now);
  info_.events_per_second = observer_->events_per_second();
  if (!host_ || link_->recording() || !link_->failure().empty())
    info_.recording = {link_->recording(), link_->bytes_written(), link_->failure(), options_.has_joined};
  info_.no_command = status.no_command;
  if (!info_.no_command && host_ && !host_->takes_orders) info_.no_command = wire::NoCommand::kInjectionOff;
  if (!status.replay) return;
  const auto in_session = [&](Nanoseconds received) {
    return std::max(Nanoseconds{0}, received - observer_->transit());
  };
  info_.replay = view::Replay{in_session(status.position), in_session(status.duration), options_.replay_speed,
                              info_.replay && info_.replay->paused};
}

/// A host that has gone has taken its record along: what it said last still holds.
void Monitor::describe_host() {
  if (options_.hosted.empty()) return;
  if (auto record = host::read_last_host_record(options_.hosted)) {
    if (record->code && !(host_ && host_->code))
      say(host::how_it_ended(record->program, *record->code),
          *record->code == 0 ? view::Tone::kGood : view::Tone::kError);
    host_ = std::move(record);
  }
  info_.host_records = host_.has_value();
  if (!host_) return;
  const bool runs = !host_->code && !has_ended();
  info_.recording = {runs && !host_->recording.empty() && host_->failure.empty(), host_->recorded, host_->failure};
  info_.ends_with_us = runs && options_.ends_program ? host_->label : std::string();
}

void Monitor::stop_at(Nanoseconds session_time) {
  state_.paused = true;
  state_.paused_at = session_time;
}

Nanoseconds Monitor::shown_moment() const { return view::screen::shown_moment(state_, model(), size_, look_); }

void Monitor::press(const view::Key& key, view::paint::Size size, const view::Look& look, Nanoseconds now) {
  const Nanoseconds before = shown_moment();
  const bool had_ghost = state_.ghost;
  view::keys::Update update = view::keys::update(std::move(state_), key, model(), size, look);
  state_ = std::move(update.state);
  for (const view::Effect& effect : update.effects) carry_out(effect, size, look, now);
  if (!loading_ && shown_moment() != before) refresh(now);
  if (state_.ghost && !had_ghost) look_for_ghost();
}

view::paint::Canvas Monitor::screen(view::paint::Size size, const view::Look& look) {
  const bool resized = size_ != size;
  size_ = size;
  look_ = look;
  if (resized) look_for_ghost();
  return view::screen::draw(state_, model(), size, look);
}

view::paint::Canvas Monitor::last_screen(view::paint::Size size, const view::Look& look) {
  screen(size, look);
  while (learns_ghost()) learn_ghost();
  return screen(size, look);
}

void Monitor::say(std::string text, view::Tone tone) { state_.message = {.text = std::move(text), .tone = tone}; }

wire::Result<wire::CommandId> Monitor::send(wire::Command command, Nanoseconds now) {
  command.id = host::new_command_id();
  const wire::Status sent = link_->send(now, command);
  if (sent && tutor_) tutor_->ordered(command);
  return sent ? wire::Result<wire::CommandId>(command.id) : sent.error();
}

wire::Status Monitor::start_recording(const std::string& path, Nanoseconds now) {
  return link_->start(path, host::recording_header(info_.name), now);
}

wire::Status Monitor::stop_recording() { return link_->stop(); }

/// Where a host stands behind the session, it records: what was begun by a key goes on without the screen on which it
/// was pressed.
void Monitor::toggle_recording(bool on, Nanoseconds now) {
  std::error_code nowhere;
  const std::string path =
      on ? std::filesystem::absolute(host::free_file_name(file_stem(), ".iw"), nowhere).string() : recording_path();
  const wire::Status done = host_ ? link_->ask_to_record(on ? path : "")
                            : on  ? start_recording(path, now)
                                  : stop_recording();
  if (!done) return say(done.error().message, view::Tone::kError);
  say(fmt::format("{} {}", on ? "recording to" : "recorded", path), view::Tone::kGood);
}

/// The session's name may be anybody's.
std::string Monitor::file_stem() const {
  const std::string name = host::plain_name(info_.name);
  return name.empty() ? "session" : name;
}

std::string Monitor::recording_path() const { return host_ ? host_->recording : link_->path(); }

void Monitor::save_screen(view::paint::Size size, const view::Look& look) {
  const std::string path = host::free_file_name(file_stem() + "-screen", ".txt");
  std::ofstream file(path);
  file << view::paint::to_text(screen(size, look));
  file.close();
  if (file.fail()) return say(fmt::format("the screen could not be saved to {}", path), view::Tone::kError);
  say(fmt::format("screen saved to {}", path), view::Tone::kGood);
}

/// A recording is read from its start up to the new place: what is seen there is what was seen live.
void Monitor::seek(Nanoseconds session_time) {
  if (!options_.reopen) return;
  auto link = options_.reopen();
  if (!link) return say(link.error().message, view::Tone::kError);
  link_ = std::make_unique<link::Recorder>(std::move(*link));
  observer_ = std::make_unique<Observer>(options_.session, options_.memory);
  next_refresh_ = Nanoseconds{0};
  loading_.reset();
  load_until(session_time);
}

void Monitor::carry_out(const view::Effect& effect, view::paint::Size size, const view::Look& look, Nanoseconds now) {
  struct Do {
    Monitor& monitor;
    view::paint::Size size;
    const view::Look& look;
    Nanoseconds now;
    void operator()(const view::Quit&) const { monitor.leaving_ = Leaving::kQuit; }
    void operator()(const view::Detach&) const { monitor.leaving_ = Leaving::kDetach; }
    void operator()(const view::SendCommand& order) const {
      const auto sent = monitor.send(order.command, now);
      if (!sent) monitor.say(sent.error().message, view::Tone::kError);
    }
    void operator()(const view::ReadNoise& asked) const {
      if (monitor.state_.form) view::keys::take_noise(monitor.state_, read_order_of_noise(asked.text));
    }
    void operator()(const view::StartRecording&) const { monitor.toggle_recording(true, now); }
    void operator()(const view::StopRecording&) const { monitor.toggle_recording(false, now); }
    void operator()(const view::SaveScreen&) const { monitor.save_screen(size, look); }
    void operator()(const view::ReplayPause& order) const {
      link::ReplayControl* replay = link::replay_control(monitor.link_->inner());
      if (!replay) return;
      if (!monitor.loading_) replay->pause(order.paused, now);
      monitor.info_.replay->paused = order.paused;
    }
    void operator()(const view::ReplaySeek& order) const { monitor.seek(order.to); }
    void operator()(const view::AnswerLesson& given) const {
      const wire::Status taken = monitor.answer_lesson(given.text);
      if (taken) return monitor.state_.form.reset();
      if (monitor.state_.form) monitor.state_.form->complaint = taken.error().message;
    }
    void operator()(const view::TurnLesson& order) const { monitor.turn_lesson(order.pages); }
  };
  std::visit(Do{*this, size, look, now}, effect);
  describe_link(now);
}

}  // namespace idlewave::cli
