// iw-ring: ranks that work and talk to their neighbours, step by step. See `iw-ring --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "workloads/ranks/agreement.h"
#include "workloads/ranks/meeting.h"
#include "workloads/ranks/place.h"
#include "workloads/ranks/program.h"
#include "workloads/ranks/sharing.h"
#include "workloads/ring/command_line.h"
#include "workloads/ring/ending.h"
#include "workloads/ring/exchange.h"
#include "workloads/ring/report.h"
#include "workloads/ring/run.h"
#include "workloads/ring/work.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::ring {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;

void tell_probe_about(const Options& options, wire::DomainId domain, const Bandwidths& bandwidths) {
  const bool is_virtual = support::is_model(options.kernel);
  // the agent finds out where a real rank runs
  idlewave_set_domain(is_virtual ? domain : wire::kNoDomain, is_virtual, bandwidths.core, bandwidths.saturated);
  const std::vector<double>& curve = bandwidths.curve;
  if (!curve.empty()) idlewave_domain_curve(curve.data(), static_cast<int>(curve.size()));
}

bool waits_asleep(const Options& options, const ranks::Group& node) {
  if (options.waiting != Waiting::kAuto) return options.waiting == Waiting::kAsleep;
  return support::is_model(options.kernel) ||
         node.size * options.threads > static_cast<int>(std::thread::hardware_concurrency());
}

/// Nothing after a failure, which has been reported. Collective.
std::optional<Exchange> make_exchange(const Options& options, MPI_Comm ranks, const ranks::Group& node,
                                      int first_wait) {
  std::optional<Doorbells> bells;
  if (waits_asleep(options, node)) {
    auto shared = ranks::share<Doorbells>(node, node.size);
    if (!ranks::all_succeeded(ranks, shared ? wire::ok() : wire::Status{shared.error()})) return std::nullopt;
    bells = std::move(*shared);
  }
  return Exchange{options, ranks, node, std::move(bells), first_wait};
}

/// Of models any number of threads fits.
wire::Status check_threads(const Options& options) {
  if (options.threads == 1) return wire::ok();
  int given = MPI_THREAD_SINGLE;
  MPI_Query_thread(&given);
  if (given < MPI_THREAD_FUNNELED && !support::is_model(options.kernel))
    return wire::Error{
        "--threads: more than 1 need MPI_THREAD_FUNNELED, which this MPI does not have; give --threads 1"};
  return support::is_model(options.kernel) ? wire::ok() : ranks::check_cores(options.threads);
}

/// Before anything is allocated: the work and the messages of this node's ranks.
wire::Status check_memory(const Options& options, const ranks::Group& node) {
  const std::size_t messages = 2 * options.distances.size() * std::size_t(options.message_size);
  return support::check_memory((memory_of_work(options, node) + messages) * std::size_t(node.size),
                               "give a smaller --volume or --message-size, or start fewer ranks on a node", node.size);
}

wire::Status check_protocol(const Options& options, bool eager) {
  if (options.protocol != Protocol::kEager || eager) return wire::ok();
  return wire::Error{fmt::format(
      "--protocol eager: this MPI sends messages of {} B by rendezvous; give a smaller --message-size or raise its "
      "eager limit (Open MPI: mpirun --mca btl_vader_eager_limit BYTES)",
      options.message_size)};
}

/// Where a run begins in what the probe is told.
struct Begin {
  Step step = 0;
  int wait = 0;
};

/// What came of a run; its figures are on the first of its ranks.
struct Outcome {
  int code = kSuccess;
  Step steps = 0;
  Figures figures;
};

/// `tell`: says of the work what the probe is to know. Collective over `ranks`.
template <class Tell>
Outcome run_once(const Options& options, MPI_Comm ranks, Tell tell, const Begin& begin) {
  const ranks::Group node = ranks::node_of(ranks);
  const std::optional<Work> work = prepare_work(options, ranks, node);
  if (!work) return {kFailed};
  tell(*work);
  std::optional<Exchange> exchange = make_exchange(options, ranks, node, begin.wait);
  if (!exchange) return {kFailed};
  if (const auto possible = check_protocol(options, exchange->is_eager()); !possible) {
    if (ranks::group_of(ranks).rank == 0) ranks::complain(possible.error());
    return {kBadInput};
  }
  const auto noise = sim::noise::make_noise(options.noise, options.noise_trace);
  if (!ranks::all_succeeded(ranks, noise ? wire::ok() : wire::Status{noise.error()})) return {kFailed};
  warm_up(options, ranks, *work, *exchange);
  const RunResult result =
      run(options, ranks, *work, *exchange, noise->get(), ranks::start_together(ranks, node), begin.step);
  return {kSuccess, result.steps, gathered(options, ranks, *work, result, exchange->is_eager())};
}

int run_alone(const Options& options, const ranks::Group& world) {
  const Outcome outcome =
      run_once(options, world.ranks, [&](const Work& w) { tell_probe_about(options, w.domain.id, w.bandwidths); }, {});
  idlewave_stop();
  if (outcome.code == kSuccess && options.json && world.rank == 0) fmt::print("{}\n", json(outcome.figures));
  return outcome.code;
}

int run_series(const Options& options, const ranks::Group& world) {
  // also those who have no part in the first run: they are on their socket from the begin
  const int seats = seats_of(options);
  tell_probe_about(options, world.rank / seats, of_virtual_socket(options, seats));
  const int waits = options.wait == WaitFlavour::kSplit ? static_cast<int>(options.distances.size()) : 1;
  std::vector<Figures> runs;
  Begin begin;
  Options one = options;
  for (const int ranks_per_domain : options.series) {
    one.ranks_per_domain = ranks_per_domain;
    const bool has_part = takes_part(options, world.rank, ranks_per_domain);
    const MPI_Comm part = ranks::part_of(world.ranks, has_part ? 0 : 1).ranks;
    idlewave_domain_bytes(0);  // each run has sockets of its own
    Outcome outcome;
    if (has_part)
      outcome = run_once(
          one, part, [](const Work&) {}, begin);
    if (const auto code = ranks::largest_asleep(outcome.code, world.ranks); code != kSuccess)
      return static_cast<int>(code);
    begin.step += ranks::largest_asleep(outcome.steps, world.ranks);
    begin.wait += waits;
    runs.push_back(std::move(outcome.figures));
  }
  idlewave_stop();
  if (world.rank == 0) fmt::print("{}", options.json ? series_json(options, runs) + "\n" : series_table(options, runs));
  return kSuccess;
}

}  // namespace
}  // namespace idlewave::ring

int main(int argc, char** argv) {
  using namespace idlewave;
  return ranks::program(
      argc, argv,
      [](int count, char** words, const ranks::Group& world) { return ring::parse_options(count, words, world.size); },
      [](const ring::Options& options, const ranks::Group& world) {
        ring::heed_requests_to_end();
        const wire::Status possible = ranks::first_failure(
            {ring::check_threads(options), ring::check_memory(options, ranks::node_of(world.ranks))});
        if (!ranks::all_succeeded(world.ranks, possible)) return ranks::kBadInput;
        idlewave_start(world.rank, world.size);
        return options.series.empty() ? ring::run_alone(options, world) : ring::run_series(options, world);
      },
      MPI_THREAD_FUNNELED);
}
