#pragma once
// A session that this process holds: its name, the link that its agents connect to, and the program that reports to it.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/host/held_folder.h"
#include "monitor/host/launcher.h"
#include "monitor/host/preload.h"
#include "monitor/link/link.h"
#include "monitor/process/launch.h"

namespace idlewave::host {

/// Of a trouble.log: what could not be done, also by who could not write to it (probe/session/trouble_log.h).
std::vector<std::string> troubles_in(const std::string& log);

/// One thread. Ends its program and removes what it has made when it goes.
class Session {
 public:
  /// `listen` empty: a socket in the session's folder. `peers`: some of the nodes that are to find it, by name.
  static wire::Result<Session> open(const std::string& name, const std::string& listen,
                                    const std::vector<std::string>& peers = {});
  Session(Session&& other) noexcept = default;
  ~Session();

  const std::string& name() const { return folder_.session(); }
  std::string folder() const { return folder_.path(); }
  /// Where it is met from other nodes (rendezvous.h); empty where all is on this one.
  const std::string& rendezvous() const { return rendezvous_; }
  const std::string& endpoint() const { return endpoint_; }  ///< Where senders of this node connect to.
  /// From here on agents are told to connect in the session's folder of their own node, from where somebody carries it.
  void be_at_hand() { is_at_hand_ = true; }
  std::unique_ptr<link::Link> take_link() { return std::move(link_); }

  /// Agents count by this group of LIKWID, and take the domains of their nodes to be like this (words::DomainCurve), where
  /// ranks do not say. Either may be empty.
  void instruct(std::string likwid_group, std::string domain_curve) {
    likwid_group_ = std::move(likwid_group);
    domain_curve_ = std::move(domain_curve);
  }

  /// `command` as it has to be started for its ranks to report here; adds what it needs to find to `environment`.
  std::vector<std::string> prepare(std::vector<std::string> command, LauncherKind kind, bool allow_inject,
                                   const Preload& preload, std::vector<std::string>& environment) const;

  /// Of an agent on this node, with what of its environment is the session's.
  std::vector<std::string> agent_command(bool allow_inject, std::vector<std::string>& environment) const;

  /// Starts the launcher with what its ranks need to report here. Their output goes to a file when `quiet`, else to our
  /// stderr; `keep_results`: standard output goes to a file of its own.
  wire::Status start(std::vector<std::string> command, LauncherKind kind, bool quiet, bool keep_results = false);
  /// What ranks and agents could not do, a line each: those of this node, of others that see the rendezvous, and `told`.
  std::vector<std::string> troubles(const std::vector<std::string>& told) const;

  /// Exit code of the launcher once it has ended.
  std::optional<int> exit_code();
  const std::string& program_name() const { return program_name_; }
  /// All that it has written to its standard output, if that was kept and is not beyond all measure.
  std::string results() const;
  /// The last lines that the program wrote, if they were kept.
  std::string epitaph();
  void end_program();

 private:
  explicit Session(HeldFolder folder) : folder_(std::move(folder)) {}
  Environment environment_of_ranks(bool allow_inject) const;
  std::string log_path() const;
  std::string results_path() const;
  wire::Status make_keys(link::LiveOptions& options);

  HeldFolder folder_;
  std::string endpoint_;
  bool is_at_hand_ = false;
  std::string likwid_group_, domain_curve_;
  std::string rendezvous_;
  std::unique_ptr<link::Link> link_;
  std::optional<process::Launched> program_;
  std::string program_name_;
  bool quiet_ = false;
};

}  // namespace idlewave::host
