#pragma once
// Every verb of `idlewave`, in one table: it is what `idlewave --help` prints, and where a mistyped one is looked for.

#include <span>
#include <string>

namespace idlewave::cli {

struct Verb {
  const char* name;
  const char* does;
};

/// In the order of `--help`.
std::span<const Verb> verb_table();

/// " (did you mean 'demo'?)" where `name` is close to a verb; else empty.
std::string verb_meant_by(const std::string& name);

}  // namespace idlewave::cli
