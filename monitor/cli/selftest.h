#pragma once
// `idlewave run --selftest`: what it costs a program to be watched.

#include <optional>
#include <span>
#include <string>

#include "monitor/cli/options.h"

namespace idlewave::cli {

/// How long the program ran, from its start to its end, in two runs one after the other.
struct Turn {
  Nanoseconds alone{}, watched{};
};

/// By how much longer it ran when watched, as a share of the time alone: mean of the turns, and its standard error, which
/// one turn does not tell. Of no turn: 0.
struct Effect {
  double difference = 0;
  std::optional<double> error;

  /// By more than twice the error; no more than that the runs differ by themselves.
  bool is_seen() const { return error && std::abs(difference) > 2 * *error; }
};
Effect effect_of(std::span<const Turn> turns);

std::string effect_in_words(std::span<const Turn> turns);
std::string effect_json(std::span<const Turn> turns);

/// Runs the program `options.turns` times alone and as often watched, in turns, the first of each two alternating. It
/// reads nothing; what it prints goes to `output_fd`. Prints a line for each turn and the effect. Exit code: 0; the
/// program's if it failed alone, for then there is nothing to be measured; kOwnFailure if it failed only when watched.
int selftest(const RunOptions& options, int output_fd);

}  // namespace idlewave::cli
