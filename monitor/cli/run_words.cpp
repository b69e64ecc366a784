#include "monitor/cli/run_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "probe/arguments/suggestion.h"
#include "probe/mpi/calls.h"
#include "probe/words/domain_curve.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli {
namespace {

/// Cores of a domain. Launchers hand the curve on as one value of the environment.
constexpr std::size_t kMostPoints = 1024;

}  // namespace

wire::Result<std::string> waiting_call(std::string_view word) {
  std::vector<std::string> known;
  for (const mpi::CallInfo& call : mpi::calls())
    if (call.waits) known.emplace_back(call.name);
  if (std::find(known.begin(), known.end(), word) != known.end()) return std::string(word);
  return wire::Error{fmt::format("\"{}\" is no MPI function that may wait{}; as in MPI_Allreduce, MPI_Waitall", word,
                                 arguments::did_you_mean(word, known))};
}

wire::Result<std::string> likwid_group(std::string_view word) {
  const auto may_stand = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; };
  if (!word.empty() && word.size() <= 64 && std::ranges::all_of(word, may_stand)) return std::string(word);
  return wire::Error{
      fmt::format("\"{}\" is no name of a group of LIKWID; as in MEM, MEM_DP (likwid-perfctr -a)", word)};
}

wire::Result<std::string> domain_curve_of(std::string_view path) {
  const auto machine = support::load_machine(path);
  if (!machine) return machine.error();
  if (machine->curve.size() > kMostPoints)
    return wire::Error{
        fmt::format("{}: machine.curve has {} points; at most {} are taken", path, machine->curve.size(), kMostPoints)};
  return words::exact_domain_curve({machine->core_bandwidth, machine->domain_bandwidth, machine->curve});
}

}  // namespace idlewave::cli
