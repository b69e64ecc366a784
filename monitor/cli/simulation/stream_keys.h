#pragma once
// The keys of a simulation that is watched over tcp and was given none.

#include <memory>
#include <string>

#include "probe/outlet/mailbox/keys.h"
#include "probe/wire/result.h"

namespace idlewave::cli::simulation {

/// In a session's folder of their own, which goes with this. One that outlives a killed simulation is removed by the
/// next session that starts.
class StreamKeys {
 public:
  static wire::Result<std::unique_ptr<StreamKeys>> make();
  ~StreamKeys();
  StreamKeys(const StreamKeys&) = delete;
  StreamKeys& operator=(const StreamKeys&) = delete;

  const mailbox::KeyFiles& files() const { return files_; }

 private:
  StreamKeys(std::string session, int lock) : session_(std::move(session)), lock_(lock) {}

  std::string session_;
  int lock_;  ///< Held: whoever tidies up leaves the folder alone.
  mailbox::KeyFiles files_;
};

}  // namespace idlewave::cli::simulation
