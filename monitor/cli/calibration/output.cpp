#include "monitor/cli/calibration/output.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::cli::calibration {
namespace {

using json = support::Json;

constexpr double kGigabyte = 1e-9;
constexpr int kLeastPlotRows = 8;

std::string in_gigabytes(const Estimate& estimate) {
  return fmt::format("{:.4g} GB/s ({:.4g} to {:.4g})", estimate.value * kGigabyte, estimate.low * kGigabyte,
                     estimate.high * kGigabyte);
}

/// Of a domain that more cores might draw more from, N_sc is only the least that it can be.
std::string saturation_in_words(const Fit& fit) {
  const Estimate& point = fit.saturation_point;
  if (int(point.value) == int(fit.curve.size())) return fmt::format("does not saturate with {} cores", point.value);
  return fmt::format("N_sc {} ({} to {}) of {} cores", point.value, point.low, point.high, fit.curve.size());
}

/// STREAM counts each array once.
std::string count_in_words(const LoopResult& loop) {
  const std::size_t ours = kernels::bytes_per_iteration(loop.kind), streams = bytes_as_stream_counts(loop.kind);
  if (ours == streams) return fmt::format("{} B an iteration, as STREAM counts", ours);
  return fmt::format("STREAM counts {} of {} B: b_sat {:.4g} GB/s", streams, ours,
                     loop.fit.saturated.value * kGigabyte * double(streams) / double(ours));
}

/// The largest of a curve is as good as any other point to compare with.
std::string likwid_in_words(const LoopResult& loop) {
  if (loop.likwid.empty()) return "";
  return fmt::format("  likwid-bench: b(1) {:.4g}, b_sat {:.4g} GB/s\n", loop.likwid.front() * kGigabyte,
                     std::ranges::max(loop.likwid) * kGigabyte);
}

std::string lines_of(const LoopResult& loop) {
  return fmt::format("{}: b(1) {}, b_sat {},\n  {}; {}\n{}", name_of(loop.kind), in_gigabytes(loop.fit.core),
                     in_gigabytes(loop.fit.saturated), saturation_in_words(loop.fit), count_in_words(loop),
                     likwid_in_words(loop));
}

json estimate_json(const Estimate& estimate, double unit) {
  return {{"value", estimate.value * unit}, {"low", estimate.low * unit}, {"high", estimate.high * unit}};
}

json list_in_gigabytes(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(value * kGigabyte);
  return list;
}

json fit_json(const Fit& fit) {
  json object;
  object["curve_gbs"] = list_in_gigabytes(fit.curve);
  object["core_gbs"] = estimate_json(fit.core, kGigabyte);
  object["saturated_gbs"] = estimate_json(fit.saturated, kGigabyte);
  object["saturation_point"] = estimate_json(fit.saturation_point, 1);
  object["scatter"] = fit.scatter;
  return object;
}

json loop_json(const LoopResult& loop) {
  json object = {{"kernel", name_of(loop.kind)},
                 {"bytes_per_iteration", std::uint64_t(kernels::bytes_per_iteration(loop.kind))},
                 {"stream_bytes_per_iteration", std::uint64_t(bytes_as_stream_counts(loop.kind))},
                 {"write_allocate", kernels::bytes_per_iteration(loop.kind) != bytes_as_stream_counts(loop.kind)}};
  object.append_missing(fit_json(loop.fit));
  object["likwid_bench_gbs"] = loop.likwid.empty() ? json() : list_in_gigabytes(loop.likwid);
  json domains = json::array();
  for (const Fit& fit : loop.of_domain) domains.push_back(fit_json(fit));
  object["domains"] = std::move(domains);
  return object;
}

}  // namespace

int Calibration::cores_of_domain() const {
  std::size_t most = 0;
  for (const MeasuredDomain& domain : domains) most = std::max(most, domain.cores.size());
  return int(most);
}

std::string summary_of(const LoopResult& loop) {
  return fmt::format("{} ({}): b(1) {}, b_sat {}, {}; {}", name_of(loop.kind), formula_of(loop.kind),
                     in_gigabytes(loop.fit.core), in_gigabytes(loop.fit.saturated), saturation_in_words(loop.fit),
                     count_in_words(loop));
}

std::string text_of(const Calibration& calibration, const PlotSize& size) {
  std::vector<PlottedCurve> curves;
  std::string text;
  for (const LoopResult& loop : calibration.loops) {
    curves.push_back({std::string(name_of(loop.kind)), loop.fit.curve, int(loop.fit.saturation_point.value)});
    text += lines_of(loop);
  }
  const int lines = int(std::ranges::count(text, '\n')) + 1;
  PlotSize of_plot = size;
  of_plot.rows = std::max(kLeastPlotRows, size.rows - lines);
  return plot(curves, of_plot) + text;
}

std::string table_of(const Calibration& calibration) {
  std::string text = "cores";
  for (const LoopResult& loop : calibration.loops) {
    text += fmt::format("  {:>10} GB/s", name_of(loop.kind));
    if (!loop.likwid.empty()) text += fmt::format("  {:>12}", "likwid-bench");
  }
  text += "\n";
  for (std::size_t n = 0; n < std::size_t(calibration.cores_of_domain()); ++n) {
    text += fmt::format("{:5}", n + 1);
    for (const LoopResult& loop : calibration.loops) {
      text += fmt::format("  {:15.4g}", loop.fit.curve[n] * kGigabyte);
      if (!loop.likwid.empty()) text += fmt::format("  {:12.4g}", loop.likwid[n] * kGigabyte);
    }
    text += "\n";
  }
  return text + "\n";
}

std::string json_of(const Calibration& calibration) {
  json domains = json::array();
  for (std::size_t i = 0; i < calibration.domains.size(); ++i) {
    const MeasuredDomain& domain = calibration.domains[i];
    domains.push_back({{"id", int(i)},
                       {"label", domain.label},
                       {"cores", domain.cores},
                       {"cache_bytes", domain.cache},
                       {"array_bytes", calibration.array_bytes[i]}});
  }
  json loops = json::array();
  for (const LoopResult& loop : calibration.loops) loops.push_back(loop_json(loop));
  json object = {{"processors", calibration.processors},
                 {"ranks_per_domain", calibration.cores_of_domain()},
                 {"repeats", calibration.plan.repeats},
                 {"time_s", std::chrono::duration<double>(calibration.plan.time).count()}};
  object["domains"] = std::move(domains);
  object["kernels"] = std::move(loops);
  return object.text() + "\n";
}

}  // namespace idlewave::cli::calibration
