// iw-ring: ranks that work and talk to their neighbours, step by step. See `iw-ring --help`.

#include <fmt/format.h>
#include <idlewave/probe.h>
#include <mpi.h>

#include <cstdio>
#include <optional>
#include <thread>

#include "workloads/ranks/agreement.h"
#include "workloads/ranks/place.h"
#include "workloads/ranks/program.h"
#include "workloads/ranks/sharing.h"
#include "workloads/ring/command_line.h"
#include "workloads/ring/exchange.h"
#include "workloads/ring/report.h"
#include "workloads/ring/run.h"
#include "workloads/ring/work.h"

namespace idlewave::ring {
namespace {

using ranks::kBadInput;
using ranks::kFailed;
using ranks::kSuccess;

void tell_probe_about(const Options& options, const Work& work) {
  const bool is_virtual = support::is_model(options.kernel);
  // the agent finds out where a real rank runs
  const wire::DomainId domain = is_virtual ? work.domain.id : wire::kNoDomain;
  idlewave_set_domain(domain, is_virtual, work.bandwidths.core, work.bandwidths.saturated);
  const std::vector<double>& curve = work.bandwidths.curve;
  if (!curve.empty()) idlewave_domain_curve(curve.data(), static_cast<int>(curve.size()));
}

bool waits_asleep(const Options& options, const ranks::Group& node) {
  if (options.waiting != Waiting::kAuto) return options.waiting == Waiting::kAsleep;
  return support::is_model(options.kernel) || node.size > static_cast<int>(std::thread::hardware_concurrency());
}

/// Nothing after a failure, which has been reported. Collective.
std::optional<Exchange> make_exchange(const Options& options, MPI_Comm ranks, const ranks::Group& node) {
  std::optional<Doorbells> bells;
  if (waits_asleep(options, node)) {
    auto shared = ranks::share<Doorbells>(node, node.size);
    if (!ranks::all_succeeded(ranks, shared ? wire::ok() : wire::Status{shared.error()})) return std::nullopt;
    bells = std::move(*shared);
  }
  return Exchange{options, ranks, node, std::move(bells)};
}

wire::Status check_protocol(const Options& options, bool eager) {
  if (options.protocol != Protocol::kEager || eager) return wire::ok();
  return wire::Error{fmt::format(
      "--protocol eager: this MPI sends messages of {} B by rendezvous; give a smaller --message-size or raise its "
      "eager limit (Open MPI: mpirun --mca btl_vader_eager_limit BYTES)",
      options.message_size)};
}

int run_ring(const Options& options, MPI_Comm ranks, const ranks::Group& world) {
  const ranks::Group node = ranks::node_of(ranks);
  idlewave_start(world.rank, world.size);
  const std::optional<Work> work = prepare_work(options, ranks, node);
  if (!work) return kFailed;
  tell_probe_about(options, *work);
  std::optional<Exchange> exchange = make_exchange(options, ranks, node);
  if (!exchange) return kFailed;
  if (const auto possible = check_protocol(options, exchange->is_eager()); !possible) {
    if (world.rank == 0) ranks::complain(possible.error());
    return kBadInput;
  }
  const auto noise = sim::noise::make_noise(options.noise, options.noise_trace);
  if (!ranks::all_succeeded(ranks, noise ? wire::ok() : wire::Status{noise.error()})) return kFailed;
  warm_up(options, ranks, *work, *exchange);
  const RunResult result = run(options, ranks, *work, *exchange, noise->get(), ranks::start_together(ranks, node));
  idlewave_stop();
  if (options.json) {
    const std::string text = report(options, ranks, *work, result, exchange->is_eager());
    if (world.rank == 0) fmt::print("{}\n", text);
  }
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
        return ring::run_ring(options, MPI_COMM_WORLD, world);
      });
}
