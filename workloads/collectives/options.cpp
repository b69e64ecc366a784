#include "workloads/collectives/options.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "workloads/ranks/flags.h"
#include "workloads/ranks/noise_flag.h"

namespace idlewave::collectives {
namespace {

using arguments::CommandLine;
using ranks::add;
using ranks::whole;
using wire::Error;
using wire::Result;

constexpr const char* kAbout =
    "iw-collectives: what noise does to blocking collectives, and what nonblocking ones win. In each step every rank "
    "works and all call a collective:\nafter the work, or started before the work and waited for after it. Each is "
    "measured without noise and with each noise, and stands beside the bound\nof the paper. Start it with mpirun. "
    "Paper: WLFH16 = Widener, Levy, Ferreira, Hoefler: On noise and the performance benefit of nonblocking "
    "collectives, 2016, sections 3.4 and 4.3, Figs. 6 and 9, eqs. 3 to 7.";

constexpr words::Choices<Collective, 4> kCollectives{{{"allreduce", Collective::kAllreduce},
                                                      {"allgather", Collective::kAllgather},
                                                      {"gather", Collective::kGather},
                                                      {"scatter", Collective::kScatter}}};
constexpr std::string_view kSilence = "none";
constexpr std::uint64_t kMostBytes = 1'000'000'000;  // of a buffer that holds the blocks of all ranks

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto size = words::parse_bytes(text);
  if (!size) return size.error();
  if (*size == 0 || *size % sizeof(std::int64_t) != 0)
    return Error{fmt::format("\"{}\" is no whole number of 8 B, at least one", text)};
  return *size;
}

Result<Nanoseconds> parse_work(std::string_view text) {
  const auto work = words::parse_duration(text);
  if (work && (work->count() == 0 || *work > std::chrono::hours{24}))
    return Error{fmt::format("\"{}\" is not above zero and at most 24 h", text)};
  return work;
}

void add_program(CommandLine& app, Options& o) {
  ranks::add_choices<Collective>(
      app, "--collectives", o.collectives, kCollectives,
      "What to measure: allreduce, allgather (every rank needs every other), gather, scatter (a root), as WLFH16 sec. "
      "2.4. [all four]")
      .type_name("NAME,...");
  add(app, "--steps", o.steps, whole<Step, 1, 1'000'000'000>, "Collectives of a run: k of WLFH16 eq. 1. [20]")
      .type_name("N");
  add(app, "--work", o.work, parse_work,
      "Work of a step, w of WLFH16 eq. 1; the rank sleeps so long, so that any number of ranks fits on any machine. "
      "[10 ms]")
      .type_name("DURATION");
  add(app, "--size", o.size, parse_size, "Block that each rank gives or gets (WLFH16 sec. 3.4). [8 B]")
      .type_name("SIZE");
  add(app, "--tests", o.tests, whole<int, 0, 1'000'000>,
      "So often the work beside a nonblocking collective calls MPI_Test, in which most MPI libraries make progress "
      "(WLFH16 sec. 2.5 takes enough of it for granted). [8]")
      .type_name("N");
}

void add_waiting(CommandLine& app, Options& o) {
  ranks::add_choice<Waiting>(
      app, "--waiting", o.waiting, ranks::kWaitings,
      "polling: inside MPI_Allreduce or MPI_Wait, as any MPI program. asleep: MPI_Test every 50 us and off the core "
      "between, also for blocking collectives. auto: asleep with more ranks than cores. [auto]")
      .type_name("NAME");
  add(app, "--ranks-per-domain", o.ranks_per_domain, whole<int, 1, 1'000'000>,
      "Ranks that idlewave shows as one virtual socket. [10]")
      .type_name("N");
}

void add_noises(CommandLine& app, std::vector<std::string>& names, std::uint64_t& seed) {
  app.add("--noise", names,
          fmt::format("Idle time after the work of a step, beside silence; may be repeated. {} none: silence alone. "
                      "[system, daemon, checkpoint]",
                      ranks::accepted_noise()))
      .type_name("NOISE")
      .one_value_each();
  ranks::add_seed(app, seed);
}

Result<NamedNoise> noise_named(const std::string& name, std::uint64_t seed) {
  const auto distribution = ranks::parse_distribution(name);
  if (!distribution) return Error{fmt::format("--noise: {}", distribution.error().message)};
  NamedNoise named{name, {*distribution, seed}, {}};
  if (const auto read = ranks::take_noise_trace(named.noise, named.trace); !read) return read.error();
  return named;
}

wire::Status take_noises(const std::vector<std::string>& names, std::uint64_t seed, Options& o) {
  if (names == std::vector<std::string>{std::string{kSilence}}) return wire::ok();
  for (const std::string& name : names) {
    auto noise = noise_named(name, seed);
    if (!noise) return noise.error();
    o.noises.push_back(std::move(*noise));
  }
  return wire::ok();
}

wire::Status check_size(const Options& o, Rank ranks) {
  const std::uint64_t most = kMostBytes / static_cast<std::uint64_t>(ranks);
  if (o.size <= most) return wire::ok();
  return Error{fmt::format("--size: the blocks of {} ranks take more than {}; give {} B at most", ranks,
                           words::format_bytes(kMostBytes), most / 8 * 8)};
}

}  // namespace

std::string_view name_of(Collective collective) { return words::word_of(collective, kCollectives); }

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, Rank ranks) {
  Options options;
  for (const auto& each : kCollectives) options.collectives.push_back(each.second);
  std::vector<std::string> noises{"system", "daemon", "checkpoint"};
  std::uint64_t seed = 1;
  CommandLine app{kAbout, "iw-collectives"};
  app.put_texts_below();
  app.add_version("iw-collectives " IDLEWAVE_VERSION);
  add_program(app, options);
  add_noises(app, noises, seed);
  add_waiting(app, options);
  app.add_flag("--json", options.json, "Print one JSON object instead of a table.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, "iw-collectives");
    return std::variant<Options, Text>{Text{ending->text}};
  }
  auto settled = check_size(options, ranks);
  if (settled) settled = take_noises(noises, seed, options);
  if (!settled) return settled.error();
  return std::variant<Options, Text>{std::move(options)};
}

}  // namespace idlewave::collectives
