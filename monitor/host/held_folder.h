#pragma once
// A session's folder on this node, for the one that its ranks there report to.

#include <string>

#include "probe/wire/result.h"

namespace idlewave::host {

/// One thread. Removes what monitors put there when it goes, and the folder unless an agent still lives in it.
class HeldFolder {
 public:
  /// Sweeps what is left of sessions that are gone, and makes the folder. Error: the name is none, the folder is not to be
  /// had, or somebody else has the place.
  static wire::Result<HeldFolder> take(const std::string& session);
  HeldFolder(HeldFolder&& other) noexcept;
  HeldFolder& operator=(HeldFolder&&) = delete;
  ~HeldFolder();

  const std::string& session() const { return session_; }
  std::string path() const;

 private:
  HeldFolder(std::string session, int hold, int place);

  std::string session_;  ///< Empty: it has been moved from.
  int hold_;             ///< Lets the folder stay.
  int place_;            ///< Held by the one monitor that ranks report to.
};

}  // namespace idlewave::host
