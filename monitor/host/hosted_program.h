#pragma once
// A program started by `run`, as its starter sees it: the host (host.h) stands between the two.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "monitor/host/host.h"
#include "monitor/process/companion.h"

namespace idlewave::host {

/// One thread. Nothing ends with it: host and program go on when it goes.
class HostedProgram {
 public:
  /// What did not start, and what to exit with.
  struct Refusal {
    int code = kOwnFailure;
    std::string reason;
  };
  static std::variant<HostedProgram, Refusal> start(const HostOptions& options);

  const std::string& session() const { return session_; }
  const std::string& name() const { return name_; }  ///< Of the program, in one word.
  /// Its ranks load a library that shows them when they call MPI.
  bool loads_library() const { return !preload_.library.empty(); }
  /// What keeps a program that reported nothing from being seen.
  std::string why_unseen() const;
  std::string view_endpoint() const;  ///< Where a screen attaches.
  /// How agents of other nodes reach the host, in one line; empty: all is on this node, or the user has said it.
  const std::string& where_it_listens() const { return where_it_listens_; }

  int fd() const { return channel_.fd(); }  ///< Readable when listen() has something to hear.
  void listen();
  /// A child of ours has ended: the host, or the program whose host was killed. Told by whoever collects them.
  void collected(pid_t pid, int wait_status);
  void collect();  ///< Those that have ended until now.

  /// The program has ended, and its agents may still tell of it.
  bool has_ended() const { return program_status_.has_value() || wait_status_.has_value(); }
  /// All is over: the exit code to pass on.
  std::optional<int> exit_code() const;
  /// Then: the signal that ended it; 0 if none has, or it was that of end().
  int ended_by() const;
  /// Then: from its start to its end; 0 if the host was killed.
  wire::Nanoseconds lived() const { return lived_; }
  bool host_was_killed() const { return host_was_killed_; }
  void look_after_host();    ///< Lets one that was stopped go on once the program has ended. Now and then.
  void pass_on(int signal);  ///< To the program; one from the keyboard to its whole group.
  void end();                ///< Ends the program, politely at first.

  /// Lets the host tidy up and go, once it is over.
  void part();
  /// What the program prints goes to a file, since a screen has the terminal.
  bool keeps_output() const { return output_fd_ >= 0; }
  bool has_notes() const { return !notes_.empty(); }  ///< There is something to say at the end.
  /// What the host has to say at the end, a line each.
  std::vector<std::string> last_words() const;
  /// The program's, or kOwnFailure where something of ours failed and the program was fine.
  int code_to_pass_on() const;
  /// Prints what was kept of the program's output while a screen had the terminal.
  void show_output() const;

 private:
  HostedProgram(process::Companion host, std::vector<pid_t> others, const HostOptions& options);
  std::optional<Refusal> wait_until_ready();
  void wait_until_gone();
  void wake_host() const;
  std::optional<pid_t> inherited() const;
  void collect_what_the_host_left();

  process::Channel channel_;
  pid_t host_;
  std::vector<pid_t> others_;  ///< Children that were there before.
  bool host_is_gone_ = false;
  pid_t program_ = 0;
  std::string session_;
  std::string name_;
  std::string where_it_listens_;
  Preload preload_;
  int output_fd_ = -1;  ///< To read what was kept; -1: nothing is.
  std::vector<std::string> notes_;
  std::vector<std::string> failures_;
  std::optional<int> program_status_;  ///< As waitpid() tells it, as soon as the host knows.
  std::optional<int> wait_status_;
  wire::Nanoseconds lived_{};
  bool host_said_all_ = false;
  bool is_ended_here_ = false;
  bool host_was_killed_ = false;
};

}  // namespace idlewave::host
