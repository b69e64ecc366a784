#include "workloads/support/played_program.h"

#include <array>

#include "workloads/support/toml_document.h"

namespace idlewave::support {
namespace {

constexpr std::array<std::string_view, 7> kPrograms = {"iw-chebfd",   "iw-collectives", "iw-contention", "iw-hybrid",
                                                       "iw-progress", "iw-selfish",     "iw-spmv"};
constexpr wire::Rank kMostPerCore = 64;
/// The lesson adds it by itself.
constexpr std::string_view kJson = "--json";

void check_name(Section& section, const std::string& name) {
  if (std::ranges::find(kPrograms, name) == kPrograms.end())
    section.complain("program", fmt::format("\"{}\" is not one of {}", name, fmt::join(kPrograms, ", ")));
}

}  // namespace

std::span<const std::string_view> playable_programs() { return kPrograms; }

PlayedProgram read_played_program(Section section) {
  PlayedProgram played;
  section.require("program", "\"iw-hybrid\"");
  section.text("program", played.name);
  section.texts("arguments", played.arguments);
  section.whole<wire::Rank>("ranks", played.ranks, 1, wire::kMaxRanks);
  section.whole<wire::Rank>("ranks_per_core", played.ranks_per_core, 1, kMostPerCore);
  section.refuse_other_keys();
  check_name(section, played.name);
  if (section.has("ranks") && section.has("ranks_per_core"))
    section.complain("ranks_per_core", "and ranks exclude each other; give one of both");
  if (!section.has("ranks_per_core")) section.require("ranks", "2, or ranks_per_core = 1");
  if (std::ranges::find(played.arguments, kJson) != played.arguments.end())
    section.complain("arguments", "--json is given by the lesson; leave it out");
  return played;
}

}  // namespace idlewave::support
