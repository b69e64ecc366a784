#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "monitor/analysis/domains/threads.h"
#include "monitor/analysis/plural.h"
#include "monitor/analysis/session/efficiency.h"
#include "monitor/analysis/session/lost_ranks.h"
#include "monitor/analysis/session/missing.h"
#include "monitor/analysis/session/order.h"
#include "monitor/analysis/session/step_times.h"
#include "monitor/analysis/session/summed.h"
#include "monitor/analysis/steps/step_history.h"
#include "monitor/analysis/waves/waves.h"
#include "monitor/cli/reporting/calls.h"
#include "monitor/cli/reporting/causes.h"
#include "monitor/cli/reporting/clocks.h"
#include "monitor/cli/reporting/moment.h"
#include "monitor/cli/reporting/report.h"
#include "probe/wire/printable.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::reporting {
namespace {

using wire::Nanoseconds;

using analysis::plural;
using analysis::Window;
using timeline::Timeline;
using words::format_duration;

/// Not counted by us: those that are found are known from a later one on than the first.
bool are_numbered_by_the_program(const Timeline& timeline) {
  const auto& sources = timeline.step_sources();
  return sources.size() == 1 && sources.contains(wire::StepSource::kProgram);
}

/// A program may count from 1, or go on where an earlier run of it has stopped.
std::string steps_in_words(const Timeline& timeline) {
  const wire::Step first = timeline.first_step(), latest = timeline.latest_step();
  if (first <= 0 || !are_numbered_by_the_program(timeline)) return plural(std::uint64_t(latest + 1), "step");
  return first == latest ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, latest);
}

std::string run_text(const Timeline& timeline, const std::optional<analysis::partners::UnlikeCounts>& unlike) {
  const Nanoseconds begin = timeline.begin();
  constexpr Nanoseconds kBeganLate = std::chrono::milliseconds(1);  // Clocks are set by a little.
  const std::string late = begin > kBeganLate ? " recorded from " + moment_in_words(begin) : "";
  const std::string steps = unlike ? "steps that differ" : steps_in_words(timeline);
  std::string text = fmt::format("{}, {}, {}{}, {}, {} dropped\n", plural(timeline.ranks(), "rank"), steps,
                                 format_duration(analysis::steps::run_end(timeline) - begin), late,
                                 plural(timeline.events(), "event"), timeline.dropped());
  const std::string summed = to_words(analysis::session::find_summed(timeline));
  if (!summed.empty()) text += summed + "\n";
  const std::string missing = to_words(analysis::session::find_missing(timeline));
  if (!missing.empty()) text += "INCOMPLETE: " + missing + "\n";
  const std::string lost = to_words(analysis::session::find_lost_ranks(timeline));
  if (!lost.empty()) text += "LOST: " + lost + "\n";
  if (unlike) text += to_words(*unlike) + "\n";
  if (const auto until = timeline.forgotten_until())
    text += fmt::format("before {} not all is kept, so what is said of that time is of a part; --memory gives room\n",
                        moment_in_words(*until));
  return text;
}

/// Of the whole session; empty of what is no power.
std::string energy_text(const Timeline& timeline, int meter) {
  if (timeline.meters()[std::size_t(meter)].info.unit != "W") return {};
  const auto [amount, covered] = timeline.meter_ever(meter);
  return fmt::format(", {:.4g} J in {} of the session", double(amount) * wire::kMeterStep, format_duration(covered));
}

/// What its hardware told beside bandwidth.
std::string meters_text(const Timeline& timeline, const analysis::domains::DomainActivity& activity) {
  std::string text;
  for (const analysis::domains::MeterFigures& figures : activity.meters) {
    const wire::MeterInfo& info = timeline.meters()[std::size_t(figures.meter)].info;
    const std::string unit = info.unit.empty() ? "" : " " + info.unit;
    const std::string mean = figures.mean ? fmt::format("{:.4g}{} in the mean", *figures.mean, unit) : "not known";
    text += fmt::format("    {}: {}{} ({})\n", wire::printable(info.name), wire::printable(mean),
                        energy_text(timeline, figures.meter), wire::printable(info.source));
  }
  return text;
}

std::string domain_text(const Timeline& timeline, const analysis::domains::DomainActivity& activity) {
  std::string text =
      fmt::format("  {:<18} {:>5} of {} active", wire::printable(timeline.name_of_domain(activity.domain)),
                  activity.is_known ? fmt::format("{:.2f}", activity.active_mean) : "?", activity.ranks);
  if (activity.straggler >= 0)
    text += fmt::format(", rank {} works longer step after step", activity.straggler);
  else if (activity.state_since)
    text += ", " + to_words(activity.state);
  if (activity.saturation_point > 0)
    text += fmt::format(", saturates at {:.3g}{}", activity.saturation_point,
                        activity.is_calibrated ? " (calibrated)" : "");
  if (activity.source != wire::BandwidthSource::kNone) {
    text += fmt::format(
        ", {} ({})", activity.bandwidth_mean ? words::format_bandwidth(*activity.bandwidth_mean) : "no bandwidth yet",
        name_of(activity.source));
  }
  return text + "\n" + meters_text(timeline, activity);
}

/// Why bandwidth is not known, or not from a better source; once for all domains of which that is true.
std::string notes_text(const Timeline& timeline, std::span<const analysis::domains::DomainActivity> domains) {
  std::map<std::string_view, std::size_t> known;
  std::vector<std::pair<const analysis::domains::DomainActivity*, std::size_t>> notes;  // The first, and of how many.
  for (const analysis::domains::DomainActivity& each : domains) {
    if (each.note.empty()) continue;
    const auto [at, is_new] = known.emplace(each.note, notes.size());
    if (is_new) notes.emplace_back(&each, 0);
    ++notes[at->second].second;
  }
  std::string text;
  for (const auto& [first, count] : notes) {
    const std::string others = count > 1 ? fmt::format(" and {}", plural(count - 1, "other")) : "";
    text += fmt::format("  bandwidth of {}{}: {}\n", wire::printable(timeline.name_of_domain(first->domain)), others,
                        wire::printable(first->note));
  }
  return text;
}

std::string domains_text(const Timeline& timeline, Window window, const analysis::domains::DomainStates& states) {
  const auto activities = analysis::domains::domain_activity(timeline, window, &states);
  std::vector<analysis::domains::DomainActivity> by_rank;
  for (const int domain : timeline.domains_by_rank()) by_rank.push_back(activities[std::size_t(domain)]);
  std::string text;
  for (const analysis::domains::DomainActivity& activity : by_rank) text += domain_text(timeline, activity);
  return text + notes_text(timeline, by_rank);
}

/// With so many digits that mean something; a large one without an exponent.
std::string figure(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  const int beyond = int(std::floor(std::log10(std::abs(value)))) + 1 - digits;
  if (beyond < 0) return fmt::format("{:.{}g}", value, digits);
  const double unit = std::pow(10, beyond);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

/// Of a figure: an error below this does not show in its digits.
constexpr double kErrorShown = 5e-4;

std::string figure_text(double value, const std::optional<double>& error) {
  if (!error || *error < kErrorShown * std::abs(value)) return figure(value, 3);
  return fmt::format("{} ± {}", figure(value, 3), figure(*error, 1));
}

std::string figure_text(const std::optional<analysis::Estimate>& estimate, const char* unit) {
  if (!estimate) return fmt::format("unknown {}", unit);
  return fmt::format("{} {}", figure_text(estimate->value, estimate->error), unit);
}

std::string theory_text(const std::optional<analysis::waves::TheorySpeed>& theory) {
  if (!theory) return {};
  const std::string off = theory->deviation ? fmt::format(", {} errors off", figure(*theory->deviation, 2)) : "";
  return fmt::format(" (in theory {}{})", figure_text(theory->ranks_per_s, theory->error), off);
}

/// Of what the front makes ranks wait; where others make them wait longer behind it, it gains.
std::string decay_text(double s_per_rank) {
  const Nanoseconds lost(std::llround(s_per_rank * 1e9));
  return fmt::format("{} {} per rank", lost < Nanoseconds{0} ? "gains" : "loses", format_duration(abs(lost)));
}

std::string direction_text(const char* name, const analysis::waves::WaveDirection& direction, wire::Rank origin) {
  const std::string end = analysis::waves::end_in_words(direction, origin);
  if (direction.end == analysis::waves::WaveEnd::kUnknown) return fmt::format("    {:<4} {}\n", name, end);
  std::string text = fmt::format("    {:<4} {}", name, plural(std::uint64_t(direction.reach_ranks), "rank"));
  if (analysis::waves::came_in_one_step(direction))
    text += " in one step";
  else if (analysis::waves::runs_along_no_line(direction))
    text += ", along no line of ranks";
  else if (direction.decay_s_per_rank)
    text += fmt::format(" at {}, {}{}; {}", figure_text(direction.leading.ranks_per_step, "ranks/step"),
                        figure_text(direction.leading.ranks_per_s, "ranks/s"), theory_text(direction.theory),
                        decay_text(direction.decay_s_per_rank->value));
  text += "; " + end + "\n";
  if (direction.blur) text += "         its speed is not known: " + in_words(*direction.blur) + "\n";
  return text;
}

std::string wave_text(const analysis::waves::Wave& wave) {
  return fmt::format("  from rank {}, step {}, at {}, {}\n", wave.origin_rank, wave.origin_step,
                     moment_in_words(wave.start), cause_in_words(wave, format_duration(wave.delay))) +
         direction_text("up", wave.up, wave.origin_rank) + direction_text("down", wave.down, wave.origin_rank);
}

/// Ranks may be idle for long though none was late by its own doing: states tell what is seen, waves are traced to who began
/// them.
std::string no_waves_text(const Timeline& timeline, const analysis::domains::DomainStates& states) {
  const auto was_idle = [](const auto& change) { return change.state == analysis::domains::DomainState::kDisturbed; };
  for (int domain = 0; domain < int(timeline.domains().size()); ++domain)
    if (std::ranges::any_of(states.changes(domain), was_idle))
      return "no idle waves that a late rank began: who was idle for long waited for messages, or for what is not "
             "known\n";
  return "no idle waves\n";
}

std::string steps_text(const Timeline& timeline, Window window) {
  const analysis::session::StepTimes times = analysis::session::step_times(timeline, window);
  if (times.steps == 0)
    return analysis::session::has_unknown_steps(timeline, window) ? "  steps of then are not kept\n"
                                                                  : "  no step ended\n";
  const Nanoseconds other = times.other_mean();
  const std::string rest = other > times.mean / 200 ? " + other " + format_duration(other) : "";
  // What goes on beside the steps is what the figures above are of.
  const std::string beside =
      times.time_share < 0.5 ? fmt::format("; {:.2g} % of the ranks' time was in steps", 100 * times.time_share) : "";
  return fmt::format("  step {} = compute {} + wait {} ({:.0f} %) + delay {}{}{}\n", format_duration(times.mean),
                     format_duration(times.compute_mean), format_duration(times.wait_mean), times.wait_share() * 100,
                     format_duration(times.delay_mean), rest, beside);
}

std::string step_sources_text(const Timeline& timeline) {
  const std::string words = analysis::session::step_sources_in_words(timeline);
  return words.empty() ? "" : fmt::format("  {}\n", words);
}

std::string threads_text(const Timeline& timeline, Window window) {
  const auto use = analysis::domains::thread_use(timeline, window);
  if (!use) return {};
  return fmt::format("  of {:.0f} threads in {} {:.2f} work, {:.2f} wait or communicate, {:.2f} sleep\n", use->most,
                     plural(std::uint64_t(use->ranks), "rank"), use->working, use->calling, use->asleep);
}

std::string efficiency_text(const Timeline& timeline, Window window) {
  const auto efficiency = analysis::session::efficiency(timeline, window);
  if (!efficiency) return "  parallel efficiency not known: no rank was there\n";
  const std::string balance = efficiency->load_balance
                                  ? fmt::format(" = load balance {:.0f} % x communication {:.0f} %",
                                                *efficiency->load_balance * 100, efficiency->communication * 100)
                                  : "";
  return fmt::format("  parallel efficiency {:.0f} %{}\n", efficiency->parallel * 100, balance);
}

/// A moment's figures say little where ranks come and go: means over the window.
std::string order_text(const Timeline& timeline, Window window) {
  constexpr int kMoments = 32;
  const std::vector<analysis::session::Order> orders = analysis::session::order_over(timeline, window, kMoments);
  if (orders.empty()) return {};
  double parameter = 0, entropy = 0;
  for (const analysis::session::Order& order : orders) parameter += order.parameter, entropy += order.entropy;
  const auto moments = double(orders.size());
  return fmt::format("  order {:.2f} (lockstep is 1), entropy {:.2f}\n", parameter / moments, entropy / moments);
}

}  // namespace

std::string report_text(const Timeline& timeline, words::Fractions fractions) {
  const Window window = window_of(timeline, fractions);
  const analysis::causes::CauseGround ground = analysis::causes::cause_ground(timeline);
  const auto& unlike = ground.partners.unlike_counts;
  std::string text = run_text(timeline, unlike);
  if (timeline.ranks() == 0) return text;
  text += fmt::format("between {} and {}:\n", moment_in_words(window.from), moment_in_words(window.to));
  analysis::domains::DomainStates states;
  if (!unlike) states.follow(timeline);
  text += domains_text(timeline, window, states);
  if (!unlike) text += steps_text(timeline, window) + order_text(timeline, window);
  text += step_sources_text(timeline);
  if (unlike || timeline.latest_step() < 0) text += possible_step_text(timeline);
  text += threads_text(timeline, window);
  text += efficiency_text(timeline, window);
  text += clocks_text(timeline);
  const auto [waves, not_traced, from] = analysis::waves::find_longest_waves(timeline);
  if (!unlike) text += waves.empty() ? no_waves_text(timeline, states) : "idle waves:\n";
  if (from && !unlike)
    text += fmt::format("  there were more than are followed: of delays and late steps before {} nothing is told\n",
                        moment_in_words(*from));
  for (const analysis::waves::Wave& wave : waves) text += wave_text(wave);
  if (not_traced > 0)
    text += fmt::format("  and {}, none of them longer: to trace their waves, too, would take too long\n",
                        plural(std::uint64_t(not_traced), "more delay"));
  text += partners_text(timeline, ground.partners);
  text += causes_text(timeline, ground);
  text += calls_text(timeline);
  return text;
}

}  // namespace idlewave::cli::reporting
