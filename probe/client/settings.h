#pragma once

namespace idlewave::client {

/// What a rank's environment asks for. The texts belong to the environment.
struct Settings {
  /// IDLEWAVE_SESSION; null: no session, the probe stays off (also with IDLEWAVE_DISABLE=1).
  const char* session = nullptr;
  const char* endpoint = nullptr;  ///< IDLEWAVE_ENDPOINT: a monitor that the agent connects to; may be null.
  const char* key = nullptr;       ///< IDLEWAVE_KEY: path of a key file; may be null.
  bool allow_inject = false;       ///< IDLEWAVE_ALLOW_INJECT: operators may order delays and noise.
};

}  // namespace idlewave::client
