#include "monitor/host/host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "monitor/host/agent_here.h"
#include "monitor/host/agent_starter.h"
#include "monitor/host/descriptors.h"
#include "monitor/host/host_record.h"
#include "monitor/host/kept_output.h"
#include "monitor/host/launcher_words.h"
#include "monitor/host/names.h"
#include "monitor/host/provenance.h"
#include "monitor/host/reach.h"
#include "monitor/host/rendezvous.h"
#include "monitor/host/session.h"
#include "monitor/link/link.h"
#include "monitor/process/exec.h"
#include "monitor/process/program.h"
#include "probe/machine/memory.h"
#include "probe/outlet/mailbox/keys.h"
#include "probe/outlet/outlet.h"
#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/files.h"

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;
using wire::Nanoseconds;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Lines = std::vector<std::string>;

/// Between two looks at what poll can't tell of: the size of a file, the end of a last agent.
constexpr Nanoseconds kLook = milliseconds(20), kLookWhileItRuns = milliseconds(200), kLookAtMuch = milliseconds(1);
/// Between frames for a recording alone. What an agent has heard and not passed on would be lost with its node.
constexpr Nanoseconds kUnwatchedPace = milliseconds(250);
constexpr Nanoseconds kRecordPeriod = milliseconds(500);
constexpr std::size_t kMostNotes = 32;
/// After the program has ended its agents may still have something to say; or go on, with ranks that it left behind.
constexpr Nanoseconds kPatienceForAgents = seconds(3);
constexpr Nanoseconds kPatienceForGoing = milliseconds(500), kLookForGoing = milliseconds(2);
constexpr Nanoseconds kRanksAreGone = milliseconds(1500);  ///< After the program has ended; else they outlive it.
constexpr Nanoseconds kPatienceForStarter = seconds(2);    ///< To attach, where the program was over in moments.
constexpr Nanoseconds kEndPatience = seconds(5);           ///< Between asking the program to end and ending it.
constexpr const char* kAnyPort = "tcp://*:*";
/// What a screen that comes later gets to see, in bytes of frames.
constexpr std::uint64_t kHistory = 64u << 20;

/// Screens come in at the address that agents do, where one was chosen.
std::string any_port_beside(const std::string& listen) {
  return listen.starts_with("tcp:") ? listen.substr(0, listen.rfind(':')) + ":*" : kAnyPort;
}

/// What would end us is for the program, and comes by the channel: the host goes when there is nothing left to do.
void be_deaf() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2, SIGALRM})
    std::signal(signal, SIG_IGN);
}

int child_ended_fd() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

void empty(int signal_fd) {
  signalfd_siginfo info;
  while (read(signal_fd, &info, sizeof info) > 0) continue;
}

bool belongs_to_keyboard(int signal) {
  return signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP || signal == SIGCONT || signal == SIGWINCH;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The streams that the program gets, and the file that stands for a terminal which a screen has.
struct Streams {
  int input = -1, output = -1, error = -1;
};

class Host {
 public:
  Host(const HostOptions& options, process::Channel& starter, Session session);
  /// 0 when the program runs; else what was refused has been said.
  int start();
  void serve();
  void finish();

 private:
  Nanoseconds now() const { return Clock::now() - began_; }
  int refuse(int code, const std::string& why);
  wire::Status record_to(const std::string& path);
  void obey_recordings();
  wire::Result<std::unique_ptr<outlet::Outlet>> open_view(const std::string& listen, const std::string& key);
  wire::Status open_views();
  wire::Status open_far_view();
  wire::Result<Streams> open_streams();
  void turn();
  void pass_on_frames();
  void pass_on_commands();
  void note(const std::string& text);
  Nanoseconds pace() const;
  Nanoseconds time_to_look() const {
    if (kept_output_ && kept_output_->grows_fast()) return kLookAtMuch;
    return ended_at_ || kept_output_ ? kLook : kLookWhileItRuns;
  }
  void listen_to_starter();
  void obey(const std::string& order);
  void end_program();
  void reach_far_nodes();
  void look_after_program();
  void let_go();
  bool is_over();
  bool agents_are_done() const;
  bool some_agent_lives() const;
  void see_agent_off() const;
  void describe(bool at_once);
  void look_after_output();

  const HostOptions& options_;
  process::Channel& starter_;
  Session session_;
  link::Recorder link_;
  std::unique_ptr<outlet::Outlet> view_;
  std::unique_ptr<outlet::Outlet> far_view_;  ///< For screens on other nodes; null where all is on this one.
  std::optional<AgentStarter> agent_starter_;
  std::optional<FarNodes> far_nodes_;
  std::optional<process::Program> program_;
  std::vector<link::Delivery> deliveries_;
  Descriptors descriptors_;
  int child_ended_;
  Clock::time_point began_ = Clock::now();
  Nanoseconds started_at_{};
  std::optional<Nanoseconds> ended_at_;             ///< The program.
  std::optional<session::AgentRecord> last_agent_;  ///< That was here when it ended, or came then.
  std::optional<Nanoseconds> end_asked_at_;
  std::optional<KeptOutput> kept_output_;  ///< None: the program has its own terminal, or --output.
  std::string refused_recording_;          ///< Why the last one that was asked for did not begin.
  HostRecord record_;
  HostRecord told_;
  Nanoseconds described_at_{};
  bool starter_is_gone_ = false;
  std::set<std::string> notes_;
  bool has_commanded_ = false;  ///< Somebody may be held.
};

Host::Host(const HostOptions& options, process::Channel& starter, Session session)
    : options_(options),
      starter_(starter),
      session_(std::move(session)),
      link_(session_.take_link()),
      child_ended_(child_ended_fd()) {
  descriptors_.add(child_ended_);
  descriptors_.add(starter_.fd());
  record_.pid = getpid();
  record_.start = session::process_start_time(getpid());
  record_.program = joined(options_.command);
  record_.label = program_label(options_.command, options_.launcher);
  record_.takes_orders = options_.allow_inject;
}

int Host::refuse(int code, const std::string& why) {
  link_.discard();  // Of what has not begun; its name is free for the next try.
  starter_.say(fmt::format("{}{} {}", message::kRefused, code, why));
  return code;
}

wire::Status Host::record_to(const std::string& path) {
  std::error_code nowhere;  // The folder that we were started in may be gone.
  record_.recording = fs::absolute(path, nowhere).string();
  return link_.start(path, recording_header(session_.name()), now());
}

wire::Result<std::unique_ptr<outlet::Outlet>> Host::open_view(const std::string& listen, const std::string& key) {
  auto view = outlet::Outlet::open({.session = session_.name(),
                                    .node = wire::kRelayNode,
                                    .listen = listen,
                                    .buffer_bytes = kHistory,
                                    .is_relay = true,
                                    .key = key});
  if (view) descriptors_.add((*view)->fd());
  return view;
}

wire::Status Host::open_views() {
  auto view = open_view(fmt::format("ipc://{}/view.sock", session_.folder()), "");
  if (!view) return view.error();
  view_ = std::move(*view);
  record_.endpoint = view_->listen_endpoint();
  return session_.rendezvous().empty() ? wire::ok() : open_far_view();
}

wire::Status Host::open_far_view() {
  auto view = open_view(any_port_beside(options_.listen), mailbox::key_files(session_.rendezvous()).server);
  if (!view) return view.error();
  far_view_ = std::move(*view);
  HostRecord record = record_;
  record.endpoint = reachable_endpoint(far_view_->listen_endpoint(), options_.spread.nodes);
  return announce(session_.name(), record);
}

/// With a screen, the keys are the screen's and so is what is seen: a terminal is replaced by nothing to read and by a
/// file. What the user has redirected stays.
wire::Result<Streams> Host::open_streams() {
  Streams streams;
  int file = options_.output_fd;
  if (options_.on_screen && file < 0) {
    auto kept = KeptOutput::open(session_.name());
    if (!kept) return kept.error();
    record_.output = kept->path();
    file = kept_output_.emplace(std::move(*kept)).fd();
  }
  const auto taken = [&](int stream) { return options_.on_screen && isatty(stream); };
  if (taken(STDIN_FILENO) || (options_.in_background && isatty(STDIN_FILENO)))
    streams.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (options_.output_fd >= 0 || taken(STDOUT_FILENO)) streams.output = file;
  if (options_.output_fd >= 0 || taken(STDERR_FILENO)) streams.error = file;
  if (options_.report_has_stdout && streams.output < 0) streams.output = STDERR_FILENO;
  return streams;
}

int Host::start() {
  if (const auto recording = options_.record.empty() ? wire::ok() : record_to(options_.record); !recording)
    return refuse(2, recording.error().message);
  if (const auto view = open_views(); !view) return refuse(kOwnFailure, view.error().message);
  std::vector<std::string> of_agent;
  const std::vector<std::string> agent = session_.agent_command(options_.allow_inject, of_agent);
  agent_starter_.emplace(session_.folder(), agent, of_agent);
  descriptors_.add(agent_starter_->fd());
  const auto streams = open_streams();
  if (!streams) return refuse(kOwnFailure, streams.error().message);
  process::ProgramOptions options{
      .environment = {}, .input_fd = streams->input, .output_fd = streams->output, .error_fd = streams->error};
  const std::vector<std::string> command = session_.prepare(options_.command, options_.launcher, options_.allow_inject,
                                                            options_.preload, options.environment);
  started_at_ = now();
  auto started = process::Program::start(command, options);
  if (const auto* failure = std::get_if<process::Program::NotStarted>(&started))
    return refuse(failure->shell_code, failure->error.message);
  program_ = std::get<process::Program>(started);
  starter_.say(fmt::format("{}{}", message::kReady, program_->pid()));
  describe(true);
  machine::be_first_without_memory();  // Of the program, which has been started, nothing is changed by that.
  // Whoever waits for the other end of the program's pipes waits for the program alone.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) process::let_go_of_stream(stream);
  process::let_go_of(options_.handed_down);
  reach_far_nodes();
  return 0;
}

/// Behind the program, which is nobody else's to wait for, and has its limits and descriptors by now.
void Host::reach_far_nodes() {
  if (!options_.far_nodes) return;
  far_nodes_.emplace(*options_.far_nodes, session_.name(), session_.folder() + "/monitor.sock");
  descriptors_.add(far_nodes_->fd());
}

void Host::serve() {
  while (!is_over()) {
    turn();
    link_.wait(time_to_look(), descriptors_.fd());
  }
  turn();
  if (!agents_are_done() && some_agent_lives())
    note("ranks go on that the program has left behind, or the agent is late: what they tell is not seen any more");
}

void Host::turn() {
  empty(child_ended_);
  agent_starter_->serve();
  if (far_nodes_) far_nodes_->serve();
  pass_on_frames();
  pass_on_commands();
  link_.set_pace(ended_at_ ? kLook : pace());  // Said anew at the end, it shows who is gone.
  obey_recordings();
  listen_to_starter();
  look_after_program();
  look_after_output();
  describe(false);
}

void Host::pass_on_frames() {
  deliveries_.clear();
  link_.receive(now(), deliveries_);
  for (link::Delivery& delivery : deliveries_) {
    if (far_view_) far_view_->relay(delivery.bytes);
    view_->relay(std::move(delivery.bytes));
  }
}

/// The commands' outcomes come back as frames; that one found nobody is told to all as one of those who ordered it
/// would be.
void Host::pass_on_commands() {
  std::vector<wire::Command> commands = view_->serve(Nanoseconds(0));
  if (far_view_) std::ranges::move(far_view_->serve(Nanoseconds(0)), std::back_inserter(commands));
  for (const wire::Command& command : commands) {
    const wire::Status sent = link_.send(now(), command);
    has_commanded_ = true;
    if (!sent) note("a command was not carried out: " + sent.error().message);
  }
}

/// Nobody reads while a screen is up, and how the program ended has to find room behind all notes.
void Host::note(const std::string& text) {
  if (notes_.size() < kMostNotes && notes_.insert(text).second) starter_.say(message::kNote + text);
}

/// That of the screen which is most in a hurry.
Nanoseconds Host::pace() const {
  const auto here = view_->pace(), afar = far_view_ ? far_view_->pace() : std::nullopt;
  if (here && afar) return std::min(*here, *afar);
  return here.value_or(afar.value_or(kUnwatchedPace));
}

/// Asked by a screen, so that the recording does not end with it.
void Host::obey_recordings() {
  std::vector<wire::Record> wishes = view_->take_recordings();
  if (far_view_) std::ranges::move(far_view_->take_recordings(), std::back_inserter(wishes));
  for (const wire::Record& wish : wishes) {
    const wire::Status done = wish.path.empty() ? link_.stop() : record_to(wish.path);
    if (!done || wish.path.empty()) record_.recording.clear();
    refused_recording_ = done ? std::string() : done.error().message;
    describe(true);
  }
}

void Host::listen_to_starter() {
  if (starter_is_gone_) return;
  while (const auto order = starter_.hear()) obey(*order);
  if (!starter_.is_over()) return;
  starter_is_gone_ = true;
  descriptors_.remove(starter_.fd());  // It would be readable for ever.
}

void Host::obey(const std::string& order) {
  if (order == message::kEnd) return end_program();
  if (!order.starts_with(message::kSignal) || program_->exit_code()) return;
  const int signal = std::atoi(order.c_str() + std::strlen(message::kSignal));
  kill(belongs_to_keyboard(signal) ? -program_->pid() : program_->pid(), signal);
}

void Host::end_program() {
  if (program_->exit_code() || end_asked_at_) return;
  end_asked_at_ = now();
  kill(-program_->pid(), SIGTERM);
  kill(-program_->pid(), SIGCONT);  // One that was stopped would never see the first.
}

void Host::look_after_program() {
  if (program_->exit_code() && !ended_at_) {
    ended_at_ = now();
    record_.code = program_->exit_code();
    starter_.say(fmt::format("{}{}", message::kCode, *program_->wait_status()));  // Who collected it alone knows.
    if (far_nodes_) far_nodes_->finish();
  }
  if (ended_at_ && !last_agent_) {  // One that was about to begin may be known later only.
    last_agent_ = agent_here(session_.name());
    if (last_agent_) say_program_has_ended(*last_agent_);
  }
  if (ended_at_) agent_starter_->say_program_has_ended();
  // Agents stay half a second after their last rank; ranks that outlive their launcher are not held for a session that
  // is over.
  if (ended_at_ && now() - *ended_at_ > kRanksAreGone && std::exchange(has_commanded_, false) && !agents_are_done())
    let_go();
  if (end_asked_at_ && now() - *end_asked_at_ > kEndPatience) {
    end_asked_at_.reset();
    kill(-program_->pid(), SIGKILL);
  }
}

void Host::let_go() {
  wire::Command command;
  command.id = new_command_id();
  command.order = wire::ClearOrder{};
  [[maybe_unused]] const wire::Status sent = link_.send(now(), command);  // Nobody is there any more: nothing is held.
}

/// Every agent that was heard has said its end, or was ended before it could, and none is about to be heard.
bool Host::agents_are_done() const {
  const link::LinkStatus link = link_.status();
  // One that is here takes ranks: whoever ends has withdrawn from there first. It is that of a second program of a script, say.
  if (link.state == link::LinkState::kEnded) return !some_agent_lives();
  const bool nobody_speaks = link.state == link::LinkState::kWaiting || link.for_good;
  return nobody_speaks && !some_agent_lives() && !agent_still_talks(session_.name());
}

bool Host::some_agent_lives() const {
  return agent_here(session_.name()) || agent_starter_->some_agent_lives_elsewhere();
}

bool Host::is_over() {
  if (!ended_at_ || now() - *ended_at_ > kPatienceForAgents) return ended_at_.has_value();
  return agent_starter_->has_told_what_is_left() && agents_are_done() && (!far_nodes_ || far_nodes_->are_done());
}

void Host::describe(bool at_once) {
  record_.recorded = link_.bytes_written();
  if (record_.failure.empty() && !link_.failure().empty()) starter_.say(message::kFailure + link_.failure());
  record_.failure = link_.failure().empty() ? refused_recording_ : link_.failure();
  const bool due = at_once || record_.code != told_.code || now() - described_at_ > kRecordPeriod;
  if (!due || record_ == told_) return;
  described_at_ = now();
  told_ = record_;
  // On a full disk screens know less.
  [[maybe_unused]] const wire::Status ignored = write_host_record(session_.name(), record_);
}

void Host::look_after_output() {
  if (!kept_output_) return;
  if (const wire::Status room = kept_output_->make_room(); !room) note(room.error().message);
}

void Host::finish() {
  if (!link_.failure().empty()) {
    // Said when it happened.
  } else if (const wire::Status stopped = link_.stop(); !stopped) {
    starter_.say(message::kFailure + stopped.error().message);
  }
  if (far_nodes_) far_nodes_->end();
  for (const std::string& trouble : session_.troubles(far_nodes_ ? far_nodes_->troubles() : Lines())) note(trouble);
  for (const std::string& lost : far_nodes_ ? far_nodes_->notes() : Lines()) note(lost);
  describe(true);
  if (kept_output_ && starter_is_gone_) kept_output_->leave_copy(session_.name());
  // Before those who watch have taken the rest: one of them may be stopped, and the starter has no part in that.
  starter_.say(fmt::format("{}{} {}", message::kEnded, *program_->wait_status(), (*ended_at_ - started_at_).count()));
  view_->finish(options_.starter_looks && !starter_is_gone_ ? kPatienceForStarter : Nanoseconds(0));
  if (far_view_) far_view_->finish(Nanoseconds(0));
  see_agent_off();
}

/// It has said its end, and goes within moments: nobody shall find it who looks when `run` has ended.
void Host::see_agent_off() const {
  if (!last_agent_ || !agents_are_done()) return;
  for (Nanoseconds waited{}; session::is_alive(*last_agent_) && waited < kPatienceForGoing; waited += kLookForGoing)
    usleep(useconds_t(kLookForGoing.count() / 1000));
}

}  // namespace

int live(const HostOptions& options, process::Channel& starter) {
  be_deaf();
  const bool chooses = options.listen.empty() && !options.spread.why.empty() && !options.far_nodes;
  auto session = Session::open(options.session, chooses ? kAnyPort : options.listen, options.spread.nodes);
  if (!session) {
    starter.say(fmt::format("{}{} {}", message::kRefused, 2, session.error().message));
    return 2;
  }
  session->instruct(options.likwid_group, options.domain_curve);
  if (chooses)
    starter.say(
        fmt::format("{}agents connect to {}, since {}", message::kListens, session->endpoint(), options.spread.why));
  if (options.far_nodes) {
    session->be_at_hand();
    starter.say(message::kListens + how_reached(*options.far_nodes));
  }
  Host host(options, starter, std::move(*session));
  if (const int refused = host.start(); refused != 0) return refused;
  host.serve();
  host.finish();
  return 0;
}

}  // namespace idlewave::host
