#include "monitor/cli/reporting/report.h"

#include <fmt/format.h>

#include <optional>

#include "monitor/analysis/domains/threads.h"
#include "monitor/analysis/domains/wavefront.h"
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

namespace idlewave::cli::reporting {
namespace {

using analysis::Window;
using analysis::session::Missing;
using json = support::Json;
using timeline::CommandRecord;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::seconds;

/// Null for what is not defined.
json number_if(bool defined, double value) { return defined ? json(value) : json(); }
json number(std::optional<double> value) { return value ? json(*value) : json(); }

json curve_source_json(const wire::DomainInfo& info) {
  if (info.calibrated) return "calibrated";
  return info.curve.empty() ? json() : json(name_of(info.source));
}

json curve_json(const wire::DomainInfo& info) {
  if (info.curve.empty()) return {};
  json points = json::array();
  for (const double bandwidth : info.curve) points.push_back(bandwidth * 1e-9);
  return points;
}

/// What comes after the last rank has stopped is nobody's.
json states_json(std::span<const analysis::domains::StateChange> changes, Nanoseconds end) {
  json list = json::array();
  for (const analysis::domains::StateChange& change : changes) {
    if (change.at > end) break;
    json object = {{"at_s", seconds(change.at)}, {"state", to_words(change.state)}, {"active", change.active}};
    if (change.straggler >= 0) object["straggler"] = change.straggler;
    list.push_back(std::move(object));
  }
  return list;
}

json meters_json(const Timeline& timeline, const analysis::domains::DomainActivity& activity) {
  json list = json::array();
  for (const analysis::domains::MeterFigures& figures : activity.meters) {
    const wire::MeterInfo& info = timeline.meters()[std::size_t(figures.meter)].info;
    json meter{{"name", info.name}, {"unit", info.unit}, {"source", info.source}};
    meter["mean"] = number_if(figures.mean.has_value(), figures.mean.value_or(0));
    if (info.unit == "W") {
      const timeline::CountedEver ever = timeline.meter_ever(figures.meter);
      meter["energy_j"] = number_if(ever.covered > Nanoseconds{0}, double(ever.amount) * wire::kMeterStep);
      meter["energy_of_s"] = seconds(ever.covered);
    }
    list.push_back(std::move(meter));
  }
  return list;
}

json domain_json(const Timeline& timeline, const analysis::domains::DomainActivity& activity,
                 std::span<const analysis::domains::StateChange> changes, Nanoseconds end) {
  const timeline::Domain& domain = timeline.domains()[std::size_t(activity.domain)];
  json object;
  object["id"] = activity.domain;
  object["label"] = domain.info.label;
  object["node"] = domain.node;
  object["ranks"] = domain.ranks.size();
  object["rank_list"] = domain.ranks;
  object["active_mean"] = number_if(activity.is_known, activity.active_mean);
  object["state"] = activity.state_since ? json(to_words(activity.state)) : json();
  object["state_since_s"] = activity.state_since ? json(seconds(*activity.state_since)) : json();
  object["straggler"] = activity.straggler >= 0 ? json(activity.straggler) : json();
  object["states"] = states_json(changes, end);
  object["saturation_point"] = number_if(activity.saturation_point > 0, activity.saturation_point);
  object["curve_gbs"] = curve_json(domain.info);
  object["curve_source"] = curve_source_json(domain.info);
  object["bandwidth_gbs"] = number_if(activity.bandwidth_mean.has_value(), activity.bandwidth_mean.value_or(0) * 1e-9);
  object["bandwidth_source"] = name_of(activity.source);
  if (!activity.note.empty()) object["bandwidth_note"] = activity.note;
  object["meters"] = meters_json(timeline, activity);
  return object;
}

json domains_json(const Timeline& timeline, Window window, const analysis::domains::DomainStates& states) {
  const Nanoseconds end = analysis::steps::run_end(timeline);
  json list = json::array();
  const auto activities = analysis::domains::domain_activity(timeline, window, &states);
  for (const int domain : timeline.domains_by_rank())
    list.push_back(domain_json(timeline, activities[std::size_t(domain)], states.changes(domain), end));
  return list;
}

json value_of(const std::optional<analysis::Estimate>& estimate) { return estimate ? json(estimate->value) : json(); }
json error_of(const std::optional<analysis::Estimate>& estimate) { return estimate ? number(estimate->error) : json(); }

json edge_json(const analysis::waves::Edge& edge) {
  return {{"speed_ranks_per_s", value_of(edge.ranks_per_s)},
          {"speed_ranks_per_s_error", error_of(edge.ranks_per_s)},
          {"ranks_per_step", value_of(edge.ranks_per_step)},
          {"ranks_per_step_error", error_of(edge.ranks_per_step)},
          {"points", edge.ranks_per_s ? edge.ranks_per_s->points : 0}};
}

json theory_json(const std::optional<analysis::waves::TheorySpeed>& theory) {
  if (!theory) return {};
  const double d = theory->distance;
  return {{"ranks_per_step", theory->ranks_per_step},
          {"d", d > 0 ? json(d) : json()},
          {"sigma", d > 0 ? json(theory->ranks_per_step / d) : json()},
          {"speed_ranks_per_s", theory->ranks_per_s},
          {"speed_ranks_per_s_error", number(theory->error)},
          {"deviation", number(theory->deviation)}};
}

json met_json(const std::optional<analysis::waves::WaveDirection::Met>& met) {
  return met ? json{{"origin_rank", met->rank}, {"origin_step", met->step}} : json();
}

json direction_json(const analysis::waves::WaveDirection& direction) {
  const bool is_known = direction.end != analysis::waves::WaveEnd::kUnknown;
  return {{"speed_ranks_per_s", value_of(direction.leading.ranks_per_s)},
          {"ranks_per_step", value_of(direction.leading.ranks_per_step)},
          {"leading", edge_json(direction.leading)},
          {"trailing", edge_json(direction.trailing)},
          {"no_speed", blur_json(direction)},
          {"along_no_line", analysis::waves::runs_along_no_line(direction)},
          {"theory_ranks_per_s", direction.theory ? json(direction.theory->ranks_per_s) : json()},
          {"theory", theory_json(direction.theory)},
          {"decay_s_per_rank", value_of(direction.decay_s_per_rank)},
          {"decay_s_per_rank_error", error_of(direction.decay_s_per_rank)},
          {"reach_ranks", is_known ? json(direction.reach_ranks) : json()},
          {"end", is_known ? json(to_words(direction.end)) : json()},
          {"end_rank", direction.end_rank >= 0 ? json(direction.end_rank) : json()},
          {"met", met_json(direction.met)}};
}

json waves_json(const std::vector<analysis::waves::Wave>& waves, bool ordered_only) {
  json list = json::array();
  for (const analysis::waves::Wave& wave : waves) {
    if (ordered_only && wave.cause != analysis::waves::WaveCause::kCommand) continue;
    list.push_back({{"origin_rank", wave.origin_rank},
                    {"origin_step", wave.origin_step == wire::kNoStep ? json() : json(wave.origin_step)},
                    {"start_s", seconds(wave.start)},
                    {"delay_s", seconds(wave.delay)},
                    {"cause", to_words(wave.cause)},
                    {"command", wave.command},
                    {"up", direction_json(wave.up)},
                    {"down", direction_json(wave.down)}});
  }
  return list;
}

json front_json(const analysis::domains::DomainFront& front) {
  json pieces = json::array();
  for (const analysis::domains::FrontPiece& piece : front.pieces)
    pieces.push_back({{"first_rank", piece.first},
                      {"last_rank", piece.last},
                      {"ranks_per_s", value_of(piece.ranks_per_s)},
                      {"ranks_per_s_error", error_of(piece.ranks_per_s)}});
  return {{"amplitude_s", seconds(front.amplitude)},
          {"pieces", std::move(pieces)},
          {"fit", number(front.fit)},
          {"wavelength_ranks", number(front.wavelength)}};
}

json wavefront_json(const Timeline& timeline, Window window) {
  const auto front = analysis::domains::find_wavefront(timeline, window);
  if (!front) return {};
  json slopes = json::array(), domains = json::array();
  for (const analysis::domains::DomainFront& domain : front->domains) {
    slopes.push_back(number_if(domain.ranks_per_s != 0, domain.ranks_per_s));
    domains.push_back(front_json(domain));
  }
  return {{"step", front->step},
          {"amplitude_s", seconds(front->amplitude)},
          {"slopes_ranks_per_s", std::move(slopes)},
          {"steps", front->steps},
          {"wavelength_ranks", number(front->wavelength)},
          {"domains", std::move(domains)}};
}

json unlike_counts_json(const std::optional<analysis::partners::UnlikeCounts>& counts) {
  if (!counts) return {};
  return {{"at_s", seconds(counts->at)},
          {"rank", counts->rank},
          {"step", counts->step},
          {"behind", counts->behind},
          {"awaited", counts->is_awaited ? json(counts->behind) : json()},
          {"its_step", counts->its_step}};
}

json order_json(const Timeline& timeline) {
  constexpr int kPoints = 33;
  json list = json::array();
  for (const analysis::session::Order& order :
       analysis::session::order_over(timeline, window_of(timeline, {0, 1}), kPoints))
    list.push_back({{"at_s", seconds(order.at)},
                    {"parameter", order.parameter},
                    {"entropy", order.entropy},
                    {"gradient_rad", order.gradient},
                    {"difference_rad", order.difference}});
  return list;
}

/// By quarters of the run.
json step_time_json(const Timeline& timeline, bool steps_go_together) {
  constexpr int kQuarters = 4;
  json list = json::array();
  if (timeline.empty()) return list;
  for (int quarter = 0; quarter < kQuarters; ++quarter) {
    const Window window = window_of(timeline, {double(quarter) / kQuarters, double(quarter + 1) / kQuarters});
    const analysis::session::StepTimes times =
        steps_go_together ? analysis::session::step_times(timeline, window) : analysis::session::StepTimes{};
    const bool any = times.steps > 0;
    list.push_back({{"from_s", seconds(window.from)},
                    {"to_s", seconds(window.to)},
                    {"rank_steps", times.steps},
                    {"mean_s", number_if(any, seconds(times.mean))},
                    {"compute_mean_s", number_if(any, seconds(times.compute_mean))},
                    {"wait_mean_s", number_if(any, seconds(times.wait_mean))},
                    {"delay_mean_s", number_if(any, seconds(times.delay_mean))},
                    {"wait_share", number_if(any, times.wait_share())},
                    {"time_share", number_if(any, times.time_share)}});
  }
  return list;
}

json threads_json(const std::optional<analysis::domains::ThreadUse>& use) {
  if (!use) return {};
  return {{"ranks", use->ranks},
          {"most", use->most},
          {"working", use->working},
          {"calling", use->calling},
          {"asleep", use->asleep}};
}

json efficiency_json(const Timeline& timeline, Window window) {
  const auto result = analysis::session::efficiency(timeline, window);
  if (!result) return {{"parallel", {}}, {"load_balance", {}}, {"communication", {}}};
  return {{"parallel", result->parallel},
          {"load_balance", number(result->load_balance)},
          {"communication", result->communication}};
}

struct OrderJson {
  json operator()(const wire::DelayOrder& order) const {
    json object = {{"kind", "delay"}, {"duration_s", seconds(order.duration)}};
    if (order.at_step != wire::kNoStep) object["at_step"] = order.at_step;
    if (order.in_steps > 0) object["in_steps"] = order.in_steps;
    return object;
  }
  json operator()(const wire::NoiseOrder& order) const {
    json object = {{"kind", "noise"}, {"distribution", name_of(order.kind)}};
    switch (order.kind) {
      case wire::NoiseKind::kExponential: object["mean_s"] = seconds(order.amount); break;
      case wire::NoiseKind::kPeriodic:
        object["duration_s"] = seconds(order.amount);
        object["frequency_hz"] = order.frequency;
        break;
      case wire::NoiseKind::kTrace:
        object["file"] = order.trace.file;
        object["detours"] = order.trace.count;
        object["busy_s"] = seconds(order.trace.busy);
        object["length_s"] = seconds(order.trace.length);
        object["longest_s"] = seconds(order.amount);
        break;
    }
    if (order.ends_with_giver) object["ends_with_giver"] = true;
    return object;
  }
  json operator()(const wire::ClearOrder& order) const {
    json object = {{"kind", "clear"}};
    if (order.noise_of != 0) object["noise_of"] = order.noise_of;
    return object;
  }
  json operator()(const wire::UnknownOrder& order) const { return {{"kind", "unknown"}, {"order", order.name}}; }
};

json command_json(const CommandRecord& record) {
  json object = std::visit(OrderJson{}, record.command.order);
  object["id"] = record.command.id;
  object["ranks"] = record.command.ranks;
  object["sent_s"] = seconds(record.sent);
  object["outcome"] = !record.answered ? "unanswered" : record.accepted ? "accepted" : "refused";
  if (!record.reason.empty()) object["reason"] = record.reason;
  object["took_effect_s"] = record.in_effect ? json(seconds(record.began())) : json();
  object["ended_s"] = record.over ? json(seconds(record.ended())) : json();
  return object;
}

json loss_json(const timeline::Loss& loss) {
  json object = {{"kind", timeline::name_of(loss.kind)},
                 {"node", loss.node},
                 {"from_s", seconds(loss.from)},
                 {"to_s", seconds(loss.to)},
                 {"count", loss.count}};
  if (loss.rank >= 0) object["rank"] = loss.rank;
  if (!loss.detail.empty()) object["detail"] = loss.detail;
  return object;
}

json losses_json(const Timeline& timeline, const Missing& missing) {
  json list = json::array();
  for (const timeline::Loss& loss : timeline.losses()) list.push_back(loss_json(loss));
  for (const timeline::Loss& loss : analysis::session::losses_of(missing, timeline.now()))
    list.push_back(loss_json(loss));
  return list;
}

}  // namespace

Window window_of(const Timeline& timeline, words::Fractions fractions) {
  const Nanoseconds begin = timeline.begin();
  const double length = double((analysis::steps::run_end(timeline) - begin).count());
  return {begin + Nanoseconds(std::int64_t(fractions.from * length)),
          begin + Nanoseconds(std::int64_t(fractions.to * length))};
}

json missing_json(const Missing& missing) {
  json object = {{"nobody", missing.nobody},    {"nodes", json::array()},        {"ranks", json::array()},
                 {"unreported", json::array()}, {"unseen_calls", json::array()}, {"intervals", json::array()},
                 {"more", missing.more}};
  for (const auto& node : missing.nodes)
    object["nodes"].push_back(
        {{"node", node.name}, {"heard_until_s", number_if(node.told, seconds(node.heard_until))}});
  for (const auto& ranks : missing.ranks)
    object["ranks"].push_back({{"first", ranks.first}, {"last", ranks.last}, {"what", to_words(ranks.why)}});
  for (const auto& node : missing.unreported)
    object["unreported"].push_back({{"node", node.node}, {"silent", node.silent}, {"of", node.of}});
  for (const auto& unseen : missing.unseen)
    object["unseen_calls"].push_back({{"rank", unseen.rank}, {"calls", unseen.calls}});
  for (const auto* list : {&missing.late, &missing.holes}) {
    for (const timeline::Loss& loss : *list) {
      json interval = {{"node", loss.node},
                       {"from_s", seconds(loss.from)},
                       {"to_s", seconds(loss.to)},
                       {"what", timeline::name_of(loss.kind)}};
      // When the run began that nobody listened to may not be known.
      if (loss.kind == timeline::LossKind::kBeforeStart && loss.from == loss.to) interval["from_s"] = {};
      if (loss.rank >= 0) interval["rank"] = loss.rank;
      object["intervals"].push_back(std::move(interval));
    }
  }
  return object;
}

json lost_ranks_json(const Timeline& timeline) {
  json list = json::array();
  for (const analysis::session::LostRank& lost : analysis::session::find_lost_ranks(timeline))
    list.push_back({{"rank", lost.rank}, {"at_s", seconds(lost.at)}});
  return list;
}

json summed_json(const Timeline& timeline) {
  const analysis::session::SummedPhases summed = analysis::session::find_summed(timeline);
  return {{"phases", summed.phases}, {"rank_s", seconds(summed.time)}, {"ranks", summed.ranks}};
}

json step_sources_json(const Timeline& timeline) {
  json list = json::array();
  for (const auto& [source, ranks] : timeline.step_sources())
    list.push_back({{"source", name_of(source)}, {"ranks", ranks}});
  return list;
}

json report_of(const Timeline& timeline, words::Fractions fractions) {
  const Window window = window_of(timeline, fractions);
  const analysis::causes::CauseGround ground = analysis::causes::cause_ground(timeline);
  const bool steps_go_together = !ground.partners.unlike_counts;
  json object;
  object["ranks"] = timeline.ranks();
  object["steps"] = steps_go_together ? json(timeline.latest_step() + 1) : json();
  object["step_sources"] = step_sources_json(timeline);
  object["steps_differ"] = unlike_counts_json(ground.partners.unlike_counts);
  const auto forgotten = timeline.forgotten_until();
  object["details_from_s"] = forgotten ? json(seconds(*forgotten)) : json();
  object["from_s"] = number_if(!timeline.empty(), seconds(timeline.begin()));
  object["duration_s"] = number_if(!timeline.empty(), seconds(analysis::steps::run_end(timeline) - timeline.begin()));
  object["events"] = timeline.events();
  object["dropped"] = timeline.dropped();
  object["summed"] = summed_json(timeline);
  const Missing missing = analysis::session::find_missing(timeline);
  object["complete"] = missing.is_complete();
  object["missing"] = missing_json(missing);
  object["lost_ranks"] = lost_ranks_json(timeline);
  object["window_s"] = timeline.empty() ? json() : json({seconds(window.from), seconds(window.to)});
  analysis::domains::DomainStates states;
  if (steps_go_together) states.follow(timeline);
  object["domains"] = domains_json(timeline, window, states);
  const analysis::waves::FoundWaves waves = analysis::waves::find_longest_waves(timeline);
  object["waves"] = waves_json(waves.waves, false);
  if (waves.from) object["waves_from_s"] = seconds(*waves.from);
  if (waves.not_traced > 0) object["waves_not_traced"] = waves.not_traced;
  object["wavefront"] = steps_go_together ? wavefront_json(timeline, window) : json();
  object["order"] = steps_go_together ? order_json(timeline) : json::array();
  object["step_time"] = step_time_json(timeline, steps_go_together);
  object["efficiency"] = efficiency_json(timeline, window);
  object["threads"] = threads_json(analysis::domains::thread_use(timeline, window));
  object["partners"] = partners_json(ground.partners);
  if (const auto step = timeline.partners_forgotten_before()) object["partners_forgotten_before_step"] = *step;
  object["causes"] = causes_json(timeline, ground);
  object["clocks"] = clocks_json(timeline);
  object["time_by_rank"] = time_by_rank_json(timeline);
  object["time_by_thread"] = time_by_thread_json(timeline);
  object["functions"] = functions_json(timeline);
  object["matrix"] = matrix_json(timeline);
  object["commands"] = json::array();
  for (const CommandRecord& record : timeline.commands()) object["commands"].push_back(command_json(record));
  object["losses"] = losses_json(timeline, missing);
  return object;
}

json lesson_finding(const Timeline& timeline, Window window, std::string_view path) {
  const std::string_view section = path.substr(0, path.find('.'));
  json findings;
  if (section == "domains") {
    analysis::domains::DomainStates states;
    states.follow(timeline);
    findings["domains"] = domains_json(timeline, window, states);
  }
  if (section == "waves") findings["waves"] = waves_json(analysis::waves::find_longest_waves(timeline).waves, true);
  if (section == "wavefront") findings["wavefront"] = wavefront_json(timeline, window);
  if (section == "efficiency") findings["efficiency"] = efficiency_json(timeline, window);
  if (section == "matrix") findings["matrix"] = matrix_json(timeline);
  if (section == "threads") findings["threads"] = threads_json(analysis::domains::thread_use(timeline, window));
  return findings.at(path);
}

std::string report_json(const Timeline& timeline, words::Fractions fractions) {
  return report_of(timeline, fractions).text() + "\n";
}

}  // namespace idlewave::cli::reporting
