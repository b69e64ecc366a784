#include "workloads/chebfd/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/number.h"
#include "probe/words/quantity.h"
#include "probe/words/sides.h"
#include "probe/words/text.h"
#include "workloads/ranks/flags.h"
#include "workloads/theory/chebfd.h"

namespace idlewave::chebfd {
namespace {

using arguments::CommandLine;
using ranks::add;
using ranks::add_choice;
using ranks::whole;
using wire::Error;
using wire::Result;
using wire::Status;

constexpr const char* kAbout =
    "iw-chebfd: Chebyshev filter diagonalization, the application of the polynomial filter to blocks of vectors, for a "
    "topological insulator.\nOne halo exchange and one fused kernel a step, and no global operation before the end: a "
    "memory-bound program that may desynchronise (small blocks), or one that is close to core-bound (large ones). "
    "Start it with mpirun.\nPaper: AHW20 = Afzal, Hager, Wellein: Desynchronization and wave pattern formation in "
    "MPI-parallel and hybrid memory-bound programs, 2020, section 6, algorithm 1, eq. 3, Fig. 8.";

Result<std::array<int, 3>> parse_size(std::string_view text) {
  const auto sides = words::parse_sides(text, {.fewest = 3, .most = 3, .longest = 100'000, .example = "16x16x8"});
  if (!sides) return sides.error();
  std::array<int, 3> size{};
  std::ranges::copy(*sides, size.begin());
  return size;
}

Result<double> parse_energy(std::string_view text) {
  const auto energy = words::parse_number(text);
  if (energy) return energy;
  return Error{fmt::format("\"{}\" is not an energy, as -0.5 or 1.25, in units of t", text)};
}

Result<Window> parse_window(std::string_view text) {
  const auto ends = words::split(text, ':');
  if (ends.size() != 2) return Error{fmt::format("\"{}\" is not of the form -0.5:0.5", text)};
  const auto lowest = parse_energy(ends[0]), highest = parse_energy(ends[1]);
  if (!lowest) return lowest.error();
  if (!highest) return highest.error();
  if (!(*lowest < *highest)) return Error{fmt::format("\"{}\": the first energy has to be the lower one", text)};
  return Window{*lowest, *highest};
}

Result<double> parse_disorder(std::string_view text) { return words::parse_number(text, 0, 1000); }

void add_filter(CommandLine& app, Options& o) {
  add(app, "--size", o.insulator.size, parse_size,
      "Sites of the insulator along x, y and z, each of which is four rows. The paper has 128x64x64. [16x16x8]")
      .type_name("XxYxZ");
  add(app, "--disorder", o.insulator.disorder, parse_disorder,
      "Width of the random potential on the sites, in units of t. Without it the result is held against plane waves. "
      "[0]")
      .type_name("ENERGY");
  add(app, "--seed", o.insulator.seed, whole<std::uint64_t, 0, UINT64_MAX>, "Of the potential and of the vectors. [1]")
      .type_name("N");
  add(app, "--window", o.window, parse_window, "Energies that the filter lets pass, in units of t. [-0.5:0.5]")
      .type_name("FROM:TO");
  add(app, "--degree", o.degree, whole<int, 3, 1'000'000>,
      "n_p of the polynomial; a step each. The paper has 500. [100]")
      .type_name("N");
  add(app, "--vectors", o.vectors, whole<int, 1, 1'000'000>,
      "n_s vectors, a multiple of --block; the filter is applied to one block after the other. The paper has 128. [4]")
      .type_name("N");
  add_choice<int>(
      app, "--block", o.block, {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}},
      "n_b vectors at once: 2 saturates the memory bandwidth of a socket, 32 is close to core-bound (Fig. 8a). "
      "[2]")
      .type_name("N");
  add(app, "--repeat", o.repeat, whole<int, 1, 1'000'000>, "The whole filter, so many times. [1]").type_name("N");
  add_choice<Reduction>(
      app, "--reduce", o.reduction, {{"end", Reduction::kEnd}, {"step", Reduction::kStep}},
      "When the scalar products of all ranks are added up: end, since they are not needed before, which leaves no "
      "point at which all ranks meet; step, as the algorithm is written. [end]")
      .type_name("NAME");
}

void add_machine(CommandLine& app, Options& o) {
  add(app, "--threads", o.threads, whole<int, 1, 1024>, "OpenMP threads of a process (Fig. 8b). [1]").type_name("N");
  add_choice<Kernel>(
      app, "--kernel", o.kernel, ranks::kKernels,
      "virtual: a process computes and then waits for as long as its traffic, by eq. 3, takes on a virtual "
      "socket, so that any number of ranks fits on any machine. [real]")
      .type_name("NAME");
  add(app, "--ranks-per-domain", o.ranks_per_domain, whole<int, 1, 1'000'000>,
      "kernel virtual: ranks on a virtual socket, which is a contention domain. [10]")
      .type_name("N");
  add(app, "--core-bandwidth", o.core_bandwidth, words::parse_bandwidth,
      "kernel virtual: memory bandwidth of a rank that is alone with blocks of one vector; larger blocks need less for "
      "the same work, by eq. 3. The default and the next are those of the paper's Emmy over 1000. [9.5 MB/s]")
      .type_name("RATE");
  add(app, "--domain-bandwidth", o.domain_bandwidth, words::parse_bandwidth,
      "kernel virtual: saturated bandwidth of a socket. [40 MB/s]")
      .type_name("RATE");
  add_choice<Waiting>(app, "--waiting", o.waiting, ranks::kWaitings,
                      "polling: inside MPI, as any MPI program. asleep: MPI_Testall now and then, and off the core "
                      "between. auto: asleep with kernel virtual and with more threads than cores. [auto]")
      .type_name("NAME");
}

/// Flags that belong to another kernel than the one that was asked for, and sizes that do not fit together.
Status check_together(const CommandLine& app, const Options& o, int ranks) {
  for (const char* flag : {"--ranks-per-domain", "--core-bandwidth", "--domain-bandwidth"})
    if (app.count(flag) > 0 && o.kernel == Kernel::kReal)
      return Error{fmt::format("{} belongs to --kernel virtual", flag)};
  if (o.kernel == Kernel::kVirtual && o.threads > 1)
    return Error{"--threads: a process is one member of a virtual socket; give 1, or --kernel real"};
  if (o.vectors % o.block != 0)
    return Error{fmt::format("--vectors: {} is no multiple of the {} of --block", o.vectors, o.block)};
  if (const Index sites = sites_of(o.insulator); sites < ranks)
    return Error{fmt::format("--size: {} sites are fewer than the {} ranks of the job", sites, ranks)};
  if (const double most = largest_energy(o.insulator); o.window.lowest < -most || o.window.highest > most)
    return Error{fmt::format("--window: no energy is below {:g} or above {:g}", -most, most)};
  return wire::ok();
}

}  // namespace

double core_bandwidth_of(const Options& options) {
  return options.core_bandwidth * theory::chebfd_code_balance(options.block) / theory::chebfd_code_balance(1);
}

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks) {
  Options options;
  CommandLine app{kAbout, ranks::name_called(argv)};
  app.put_texts_below();
  app.add_version("iw-chebfd " IDLEWAVE_VERSION);
  add_filter(app, options);
  add_machine(app, options);
  app.add_flag("--json", options.json, "Print one JSON object, with every process and all moments, instead of tables.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, app.name());
    return std::variant<Options, Text>{Text{ending->text}};
  }
  const Status checked = check_together(app, options, ranks);
  if (!checked) return checked.error();
  return std::variant<Options, Text>{std::move(options)};
}

}  // namespace idlewave::chebfd
