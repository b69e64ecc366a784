#pragma once
// The keys of a session: who may do what over tcp. Made anew for each session, one file for each role, mode 0600 in the
// session's folder. A file is text: "idlewave-key 1", then one "name value" a line; keys are 40 characters of Z85.
//   role operator | viewer | agent    public, secret: its own pair    server: the public key of the one who listens
//   role server                       public, secret: its own pair    operator, viewer, agent: who is let in

#include <array>
#include <cstdint>
#include <string>

#include "probe/wire/result.h"

namespace idlewave::mailbox {

/// What a peer has proven to be.
enum class Role : std::uint8_t {
  kOwner,     ///< The user who runs this program (over ipc), or the one to whom we connected: may be what it says.
  kOperator,  ///< Holds key.operator: may watch and command.
  kViewer,    ///< Holds key.viewer: may watch.
  kAgent,     ///< Holds key.agent: may report.
};

/// What one who connects holds.
struct ClientKey {
  Role role = Role::kOperator;
  std::string public_key;
  std::string secret_key;
  std::string server_key;  ///< Public key of the one who listens.
};

/// What one who listens holds.
struct ServerKey {
  std::string public_key;
  std::string secret_key;
  std::array<std::string, 3> admitted;  ///< Public keys of operator, viewer, agent.
};

/// Paths of the files that a session's keys lie in.
struct KeyFiles {
  std::string server;
  std::string operators;
  std::string viewers;
  std::string agents;
};
KeyFiles key_files(const std::string& folder);

/// New keys for a session, in place of any that were there.
wire::Result<KeyFiles> make_session_keys(const std::string& folder);

/// Refuses a file that is no key file of that kind, that belongs to somebody else, or whose mode is not 0600.
wire::Result<ClientKey> read_client_key(const std::string& path);
wire::Result<ServerKey> read_server_key(const std::string& path);

}  // namespace idlewave::mailbox
