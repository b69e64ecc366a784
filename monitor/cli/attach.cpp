#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <optional>

#include "monitor/analysis/session/lost_ranks.h"
#include "monitor/analysis/session/missing.h"
#include "monitor/cli/joining.h"
#include "monitor/cli/over.h"
#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "monitor/cli/watching.h"
#include "monitor/host/host_record.h"
#include "monitor/process/exec.h"
#include "probe/wire/printable.h"

namespace idlewave::cli {
namespace {

/// A sender that fell silent may have been stopped, its network may be down, its agent may be started anew: it is
/// waited for so long,
constexpr Nanoseconds kSilenceBorne = std::chrono::seconds(60);
/// and so long where nobody listens any more.
constexpr Nanoseconds kAbsenceBorne = std::chrono::seconds(10);
constexpr Nanoseconds kSenderLookPeriod = std::chrono::seconds(1);

/// Whether it is worth going on without anybody who looks: a sender that is not there, refuses or has gone for good
/// ends a headless watch. On a screen it is told there.
class Hope {
 public:
  explicit Hope(std::string endpoint) : endpoint_(std::move(endpoint)) {}

  /// Asked again and again with the monitor's time. Says on stderr when the sender falls silent, and when it is heard
  /// again.
  bool is_lost(const link::LinkStatus& status, bool heard, Nanoseconds now) {
    if (status.state == link::LinkState::kEnded || status.state == link::LinkState::kRefused) return true;
    if (status.state != link::LinkState::kLost) return end_silence(), false;
    if (!heard || status.for_good) return true;
    if (!silent_since_) begin_silence(status, now);
    if (now - looked_at_ >= kSenderLookPeriod) look(now);
    return now - *silent_since_ > kSilenceBorne || (deserted_since_ && now - *deserted_since_ > kAbsenceBorne);
  }

 private:
  void begin_silence(const link::LinkStatus& status, Nanoseconds now) {
    silent_since_ = now;
    fail(status.detail + "; waiting for it to come back", 0);
  }
  void end_silence() {
    if (silent_since_) fail(endpoint_ + " is heard again", 0);
    silent_since_ = deserted_since_ = std::nullopt;
  }
  void look(Nanoseconds now) {
    looked_at_ = now;
    if (!link::is_deserted(endpoint_))
      deserted_since_ = std::nullopt;
    else if (!deserted_since_)
      deserted_since_ = now;
  }

  std::string endpoint_;
  std::optional<Nanoseconds> silent_since_;
  std::optional<Nanoseconds> deserted_since_;
  Nanoseconds looked_at_{};
};

bool is_gone(const link::LinkStatus& status) {
  return status.state == link::LinkState::kLost || status.state == link::LinkState::kRefused;
}

bool was_heard(const Monitor& monitor) { return !monitor.observer().timeline().nodes().empty(); }

/// False with a line if anything is missing since this monitor joined. That it joined late is told, but was its
/// operator's choice; so is a rank that was lost, of which nothing is missing.
bool is_complete(const Monitor& monitor) {
  const analysis::session::Missing missing = analysis::session::find_missing(monitor.observer().timeline());
  const auto lost = analysis::session::find_lost_ranks(monitor.observer().timeline());
  if (!lost.empty()) fail("lost: " + to_words(lost), 0);
  if (!missing.is_complete())
    fail((missing.has_all_since_start() ? "joined late: " : "incomplete: ") + to_words(missing), 1);
  return missing.has_all_since_start();
}

/// What runs here, for whoever wants to join.
int list_sessions() {
  const std::vector<RunningSession> sessions = running_sessions();
  if (sessions.empty())
    return fail("no session runs on this node; start one with 'idlewave run' or 'idlewave demo', or name an endpoint",
                2);
  for (const RunningSession& session : sessions)
    print(fmt::format("{:24} {}{}\n", session.name, wire::printable(session.program),
                      session.node.empty() ? "" : fmt::format("  (on {})", wire::printable(session.node))));
  return 0;
}

/// What runs over there, said by the idlewave that is there.
int list_sessions_over(const std::string& over) {
  const auto words = command_over(over, {"attach"});
  if (!words) return fail(words.error().message, 2);
  process::restore_what_was_inherited();
  execvp(words->front().c_str(), process::pointers_to(*words).data());
  return fail(process::cant_start(words->front(), errno).message, 2);
}

/// What a command says on its standard error while it leads to the session: at once, or over a screen as a message, and
/// again when that has closed.
class Overheard {
 public:
  Overheard(Remote* remote, bool on_screen) : remote_(remote), on_screen_(on_screen) {}
  ~Overheard() {
    for (const std::string& line : kept_) fail(line, 0);
  }
  Overheard(const Overheard&) = delete;
  Overheard& operator=(const Overheard&) = delete;

  void pass_on(Monitor& monitor) {
    if (remote_ == nullptr) return;
    for (const std::string& line : remote_->take_lines()) on_screen_ ? keep(monitor, line) : void(fail(line, 0));
  }

 private:
  static constexpr std::size_t kMostLines = 20;

  void keep(Monitor& monitor, const std::string& line) {
    monitor.say(line, view::Tone::kWarning);
    kept_.push_back(line);
    if (kept_.size() > kMostLines) kept_.pop_front();
  }

  Remote* remote_;
  bool on_screen_;
  std::deque<std::string> kept_;
};

int watch(Monitor& monitor, const AttachOptions& options, const Joined& joined, bool is_hosted_here) {
  if (options.headless) monitor.be_patient();
  if (options.headless && options.without_screen) monitor.look_away();
  if (!options.record.empty()) {
    const wire::Status recording = monitor.start_recording(options.record, Nanoseconds{0});
    if (!recording) return fail(recording.error().message, 2);
  }
  Hope hope(joined.endpoint);
  Overheard overheard(joined.remote.get(), !options.headless);
  const auto done = [&](Nanoseconds now) {
    overheard.pass_on(monitor);
    const link::LinkStatus status = monitor.link_status();
    if (options.headless_for && now >= *options.headless_for) return true;
    return options.headless ? hope.is_lost(status, was_heard(monitor), now) : is_gone(status) && !was_heard(monitor);
  };
  const int code = options.headless ? watch_headless(monitor, done) : watch_on_screen(monitor, done);
  if (code != 0) return code;
  const link::LinkStatus status = monitor.link_status();
  if (is_gone(status)) fail(status.detail, 1);
  // Whoever leaves while it goes on has not missed its end.
  const bool left_early = status.state == link::LinkState::kWaiting || status.state == link::LinkState::kLive;
  if (left_early && options.headless && !was_heard(monitor))
    return fail(joined.endpoint + " has told nothing so far", 1);
  if (left_early && !options.headless && (was_heard(monitor) || is_hosted_here))
    fail(fmt::format("{} goes on; the same call shows it again", joined.session), 0);
  const bool whole = !options.headless || left_early || !was_heard(monitor) || is_complete(monitor);
  return is_gone(status) || !whole ? 1 : 0;
}

}  // namespace

int attach(const AttachOptions& options) {
  if (options.endpoint.empty()) return options.over.empty() ? list_sessions() : list_sessions_over(options.over);
  const auto body = [&] {
    auto way = join({options.endpoint, options.key, options.over, options.view_only});
    if (const auto* no_way = std::get_if<NotReached>(&way)) return fail(no_way->why, no_way->code);
    Joined& joined = std::get<Joined>(way);
    const bool is_hosted_here = options.over.empty() && host::read_host_record(options.endpoint);
    Monitor monitor(std::move(joined.link), {.session = joined.session,
                                             .label = joined.label,
                                             .memory = options.memory,
                                             .has_joined = true,
                                             .hosted = is_hosted_here ? options.endpoint : ""});
    const int code = finish_recording(monitor, watch(monitor, options, joined, is_hosted_here));
    if (options.headless) print_result(monitor, options);
    return code;
  };
  return options.headless ? body() : guarded(body);
}

}  // namespace idlewave::cli
