#pragma once
// What the programs of a sweep say, and how they are interrupted.

#include <atomic>
#include <string>

namespace idlewave::sim::sweep {

inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;

/// One line on stderr; returns `code`.
int complain(const std::string& message, int code);

/// Prints a result to stdout.
void tell(const std::string& result);

/// Set once SIGINT, SIGTERM or (without nohup) SIGHUP has come; from the first call on, they end a run with what it
/// has.
const std::atomic<bool>& interrupted();

}  // namespace idlewave::sim::sweep
