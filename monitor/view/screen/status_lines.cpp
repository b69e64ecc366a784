#include "monitor/view/screen/status_lines.h"

#include <fmt/format.h>

#include "monitor/analysis/plural.h"
#include "monitor/analysis/session/step_times.h"
#include "monitor/view/layout/moment.h"
#include "monitor/view/map/fronts.h"
#include "monitor/view/map/ghost_map.h"
#include "monitor/view/map/noises.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::screen {

namespace {

using paint::Ink;
using paint::Piece;

constexpr int kLongestName = 24;

Piece recording_piece(const Recording& recording, bool is_replay) {
  if (!recording.failure.empty())
    return {.text = "● rec FAILED", .ink = Ink::kError, .weight = 9, .right = true, .bold = true};
  if (!recording.on && recording.bytes > 0)
    return {.text = "recorded " + paint::to_bytes(recording.bytes), .ink = Ink::kDim, .weight = 4, .right = true};
  const char* not_recorded = is_replay ? "" : recording.is_ours_alone ? "not recorded here" : "not recorded";
  if (!recording.on) return {.text = not_recorded, .ink = Ink::kDim, .weight = 3, .right = true};
  return {.text = "● rec " + paint::to_bytes(recording.bytes), .ink = Ink::kGood, .weight = 7, .right = true};
}

/// Who joined later, and where what had been was not kept; or a recording that was begun later.
Piece beginning_piece(const timeline::Timeline& timeline, bool is_recorded) {
  constexpr Nanoseconds kWorthSaying = std::chrono::milliseconds(100);
  if (timeline.empty() || timeline.begin() < kWorthSaying) return {};
  const std::string from = paint::to_moment(timeline.begin(), kWorthSaying);
  return {
      .text = (is_recorded ? "recorded from " : "known from ") + from, .ink = Ink::kDim, .weight = 5, .right = true};
}

std::string lag_in_words(Nanoseconds lag) {
  const double s = std::chrono::duration<double>(lag).count();
  return s < 9.995 ? fmt::format("+{:.2f} s", s) : "+" + paint::to_duration(lag);
}

/// However slow.
std::string to_speed(double speed) { return speed < 0.0995 ? fmt::format("{:.2g}", speed) : paint::to_figure(speed); }

/// How far it is in the session is not known before anything of it was read.
Piece replay_piece(const Replay& replay, bool is_known) {
  std::string at;
  // The title has the moment of the last news, which may be another figure than that of the file's last frame.
  if (is_known && replay.position >= replay.duration)
    at = " at its end";
  else if (is_known)
    at = fmt::format(" {} of {}", paint::to_moment(replay.position, std::chrono::milliseconds(100)),
                     paint::to_moment(replay.duration, std::chrono::milliseconds(100)));
  return {.text = fmt::format("REPLAY ×{}{}", to_speed(replay.speed), at),
          .ink = Ink::kGood,
          .weight = 10,
          .right = true,
          .bold = true};
}

/// Nodes and ranks of which nothing is heard. Until nothing more can come that is a node which fell behind the others;
/// losses in between are told among the events.
std::string silence_in_words(const Model& model) {
  analysis::session::Missing silent{.nodes = model.findings.missing.nodes};
  if (model.session.link == LinkCondition::kEnded)
    silent.ranks = model.findings.missing.ranks, silent.unreported = model.findings.missing.unreported;
  else
    std::erase_if(silent.nodes, [](const auto& node) { return !node.behind; });
  return silent.is_complete() ? "" : "INCOMPLETE: " + to_words(silent);
}

constexpr Nanoseconds kKeepsUp = std::chrono::seconds(1);
constexpr Nanoseconds kFarBehind = std::chrono::seconds(10);

/// What came long ago is not live.
Piece live_piece(Nanoseconds lag) {
  const Ink ink = lag < kKeepsUp ? Ink::kGood : lag < kFarBehind ? Ink::kWarning : Ink::kError;
  const std::string words = lag < kFarBehind ? "LIVE " + lag_in_words(lag) : "BEHIND " + paint::to_duration(lag);
  return {.text = words, .ink = ink, .weight = 10, .right = true, .bold = true};
}

Piece link_piece(const SessionInfo& session, const analysis::session::Findings& findings) {
  const auto piece = [](std::string text, Ink ink) {
    return Piece{.text = std::move(text), .ink = ink, .weight = 10, .right = true, .bold = true};
  };
  switch (session.link) {
    case LinkCondition::kWaiting: return piece("WAITING", Ink::kWarning);
    case LinkCondition::kLive: return live_piece(session.lag);
    case LinkCondition::kEnded:
      if (!findings.missing.has_all_since_start()) return piece("INCOMPLETE", Ink::kError);
      if (!findings.lost_ranks.empty()) return piece("RANKS LOST", Ink::kError);
      return piece("ENDED", Ink::kStrong);
    case LinkCondition::kLost: return piece("LOST", Ink::kError);
    case LinkCondition::kRefused: return piece("REFUSED", Ink::kError);
  }
  return {};
}

std::string speed_in_words(const analysis::waves::WaveDirection& direction) {
  if (analysis::waves::came_in_one_step(direction)) return "in one step";
  const auto& speed = direction.leading.ranks_per_step;
  return speed ? paint::to_figure(speed->value) + " ranks/step" : "–";
}

std::string ends_in_words(const analysis::waves::Wave& wave, Nanoseconds until) {
  if (map::last_departure(wave) > until) return "running";
  return wave.up.end == wave.down.end ? to_words(wave.up.end) : to_words(wave.up.end) + " / " + to_words(wave.down.end);
}

std::string wave_in_words(const analysis::waves::Wave& wave, Nanoseconds until) {
  return fmt::format("last wave: rank {}, step {}, up {}, down {}, {}", wave.origin_rank, wave.origin_step,
                     speed_in_words(wave.up), speed_in_words(wave.down), ends_in_words(wave, until));
}

/// Of orders that hold at the moment, the latest, and how many more.
std::string noise_in_words(const std::vector<map::Noise>& all, Nanoseconds at) {
  std::string out;
  int others = -1;
  for (const map::Noise& noise : all) {
    if (noise.from > at || noise.to <= at) continue;
    out = noise.words;
    ++others;
  }
  return others > 0 ? fmt::format("{} and {} more", out, others) : out;
}

/// How well the nodes are laid on one axis; nothing where there is one clock.
std::string clocks_in_words(const timeline::Timeline& timeline) {
  auto nodes = timeline.nodes();
  std::erase_if(nodes, [](const auto& node) { return node.simulated; });
  if (nodes.size() < 2) return {};
  Nanoseconds error{};
  for (const auto& node : nodes) {
    if (!node.clock_error) return "clocks not compared";
    error = std::max(error, *node.clock_error);
  }
  return "clocks ±" + paint::to_duration(error);
}

/// What of a step is neither computing nor waiting, where it shows beside the two: they would not add up without it.
std::string rest_in_words(const analysis::session::StepTimes& times) {
  std::string out;
  for (const auto& [part, word] : {std::pair(times.delay_mean, "delay"), std::pair(times.other_mean(), "other")})
    if (part > times.mean / 200) out += fmt::format(" + {} {}", paint::to_duration_like(part, times.mean), word);
  return out;
}

/// "3 of 40 ranks" where a filter hides the others.
std::string ranks_in_words(const State& state, Rank ranks) {
  if (ranks == 0) return "";
  if (state.filter.empty()) return analysis::plural(ranks, "rank");
  Rank shown = 0;
  for (const RankRange& range : state.filter) shown += std::max(std::min(range.last, ranks) - range.first, 0);
  return fmt::format("{} of {}", shown, analysis::plural(ranks, "rank"));
}

/// Why no figure is given of a step.
std::string no_step_in_words(const Model& model) {
  if (model.findings.ground.partners.unlike_counts) return "ranks count steps differently";
  const analysis::Window so_far{model.timeline.begin(), model.findings.window.to};
  if (analysis::session::has_unknown_steps(model.timeline, model.findings.window)) return "steps of then are not kept";
  const bool any = analysis::session::step_times(model.timeline, so_far).steps > 0;
  return any ? "no step has ended lately" : "no step has ended yet";
}

std::vector<std::string> step_in_words(const Model& model) {
  const analysis::session::StepTimes& times = model.findings.steps;
  if (times.steps == 0) return {no_step_in_words(model)};
  const std::string step = "step " + paint::to_duration(times.mean), share = paint::to_percent(times.wait_share());
  const std::string compute = paint::to_duration_like(times.compute_mean, times.mean),
                    wait = paint::to_duration_like(times.wait_mean, times.mean), rest = rest_in_words(times);
  return {fmt::format("{} = {} compute + {} wait ({}){}", step, compute, wait, share, rest),
          fmt::format("{} = {} + {} wait ({}){}", step, compute, wait, share, rest),
          fmt::format("{}, wait {}", step, share), step};
}

/// On the right: how much comes in, and what of it is not known singly, or not at all.
void add_counts(const SessionInfo& session, const timeline::Timeline& timeline, std::vector<Piece>& pieces) {
  const std::uint64_t dropped = timeline.dropped(), summed = timeline.phases_summed();
  const std::uint64_t unseen = timeline.calls().unseen();
  if (!session.replay && !timeline.empty())
    pieces.push_back({.text = fmt::format("{:>6} ev/s", paint::to_count(session.events_per_second)),
                      .ink = Ink::kDim,
                      .weight = 4,
                      .right = true});
  if (summed > 0)
    pieces.push_back({.text = paint::to_count(static_cast<double>(summed)) + " phases in sums",
                      .ink = Ink::kDim,
                      .weight = 5,
                      .right = true});
  if (unseen > 0)
    pieces.push_back({.text = paint::to_count(static_cast<double>(unseen)) + " calls unseen",
                      .ink = Ink::kWarning,
                      .weight = 9,
                      .right = true});
  pieces.push_back({.text = paint::to_count(static_cast<double>(dropped)) + " dropped",
                    .ink = dropped > 0 ? Ink::kWarning : Ink::kDim,
                    .weight = dropped > 0 ? 9 : 4,
                    .right = true});
}

}  // namespace

Piece carrier_piece(const State& state, const Model& model) {
  if (!model.session.loading.empty())
    return {
        .text = "LOADING " + model.session.loading, .ink = Ink::kWarning, .weight = 10, .right = true, .bold = true};
  if (state.paused)
    return {.text = "PAUSED at " + paint::to_moment(layout::shown_until(state, model), std::chrono::milliseconds(100)),
            .ink = Ink::kWarning,
            .weight = 10,
            .right = true,
            .bold = true};
  return model.session.replay ? replay_piece(*model.session.replay, !model.timeline.empty())
                              : link_piece(model.session, model.findings);
}

std::vector<Piece> title_pieces(const layout::Layout& layout, const State& state, const Model& model) {
  const SessionInfo& session = model.session;
  const auto& timeline = model.timeline;
  const std::string label = paint::shortened(session.label.empty() ? timeline.program() : session.label, kLongestName);
  const std::string name = session.name == label ? "" : paint::shortened(session.name, kLongestName);
  const std::size_t sockets = timeline.domains().size();
  const bool past = layout::shows_the_past(state, model, layout);
  const Nanoseconds moment = layout::moment_of(state, model, layout);
  const wire::Step step = layout::step_shown(model, moment);
  std::vector<Piece> pieces = {
      {.text = "idlewave", .ink = Ink::kStrong, .weight = 2, .bold = true},
      {.text = label, .ink = Ink::kTitle, .weight = 8, .bold = true},
      {.text = name, .ink = Ink::kDim, .weight = 5},
      {.text = ranks_in_words(state, timeline.ranks()), .weight = 7},
      {.text = sockets == 0 ? "" : analysis::plural(sockets, "socket"), .weight = 3},
      {.text = step == wire::kNoStep ? "" : fmt::format("step {:<4}", step), .weight = 6},
      {.text = timeline.empty() ? "" : paint::to_moment(moment, std::chrono::milliseconds(100)),
       .weight = 6,
       .reverse = past},
      {.text = noise_in_words(map::noises(timeline), moment), .ink = Ink::kWarning, .weight = 8, .bold = true}};
  add_counts(session, timeline, pieces);
  pieces.push_back(beginning_piece(timeline, session.replay.has_value()));
  pieces.push_back(recording_piece(session.recording, session.replay.has_value()));
  if (past && !state.paused) {
    pieces.push_back({.text = "◂ past, f follows", .ink = Ink::kWarning, .weight = 7, .right = true});
  }
  pieces.push_back(carrier_piece(state, model));
  return pieces;
}

std::vector<Piece> step_pieces(const layout::Layout& layout, const State& state, const Model& model, int columns) {
  std::vector<Piece> pieces = {{.text = paint::longest_fitting(step_in_words(model), columns), .weight = 9}};
  if (state.ghost && model.ghost != nullptr)
    pieces.push_back({.text = paint::longest_fitting(map::ghost_in_words(*model.ghost), columns * 2 / 3),
                      .ink = Ink::kStrong,
                      .weight = 8});
  pieces.push_back({.text = analysis::session::step_sources_in_words(model.timeline), .ink = Ink::kDim, .weight = 3});
  if (model.findings.skew.step != wire::kNoStep)
    pieces.push_back({.text = "skew " + paint::to_duration(model.findings.skew.spread), .weight = 2});
  if (model.findings.order)
    pieces.push_back({.text = fmt::format("order {:.2f}", model.findings.order->parameter), .weight = 1});
  pieces.push_back({.text = clocks_in_words(model.timeline), .weight = 1});
  const Nanoseconds until = layout::told_until(state, model, layout);
  if (const analysis::waves::Wave* wave = map::last_wave(model.findings.waves, until))
    pieces.push_back({.text = wave_in_words(*wave, until), .weight = 1});
  return pieces;
}

std::string alert(const Model& model) {
  const SessionInfo& session = model.session;
  if (session.link == LinkCondition::kLost || session.link == LinkCondition::kRefused) return session.link_detail;
  if (!session.recording.failure.empty()) return "recording: " + session.recording.failure;
  if (const std::string silence = silence_in_words(model); !silence.empty()) return silence;
  // While it goes on, others may take the place of those.
  const bool lost = session.link == LinkCondition::kEnded && !model.findings.lost_ranks.empty();
  return lost ? "LOST: " + to_words(model.findings.lost_ranks) : "";
}

}  // namespace idlewave::view::screen
