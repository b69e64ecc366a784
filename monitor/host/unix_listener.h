#pragma once

#include <string>

namespace idlewave::host {

/// A Unix socket that listens at `path`, for this user alone, and does not block; what lay there is removed. -1: errno says
/// why.
int listen_at(const std::string& path);

}  // namespace idlewave::host
