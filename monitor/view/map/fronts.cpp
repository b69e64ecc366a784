#include "monitor/view/map/fronts.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/analysis/plural.h"
#include "monitor/view/layout/moment.h"
#include "monitor/view/paint/figures.h"

namespace idlewave::view::map {

const analysis::waves::Wave* last_wave(const std::vector<analysis::waves::Wave>& waves, Nanoseconds until) {
  const auto begun = [until](const analysis::waves::Wave& wave) { return wave.start <= until; };
  const auto last = std::find_if(waves.rbegin(), waves.rend(), begun);
  return last == waves.rend() ? nullptr : &*last;
}

Nanoseconds last_departure(const analysis::waves::Wave& wave) {
  Nanoseconds last = wave.start + wave.delay;
  for (const analysis::waves::WaveDirection* direction : {&wave.up, &wave.down})
    if (!direction->front.empty()) last = std::max(last, direction->front.back().departure);
  return last;
}

const analysis::waves::Wave* wave_to_draw(const layout::Layout& layout, const State& state, const Model& model) {
  const Nanoseconds until = layout::shown_until(state, model);
  const analysis::waves::Wave* shown = nullptr;
  for (const analysis::waves::Wave& wave : model.findings.waves) {
    const auto begin = layout::column_of(layout, model.timeline, wave.origin_rank, wave.start);
    if (wave.start >= until || !begin) continue;
    const bool under_cursor = state.cursor_time && state.cursor_rank == wave.origin_rank &&
                              begin == layout::column_of(layout, model.timeline, state.cursor_rank, *state.cursor_time);
    if (under_cursor) return &wave;
    shown = &wave;
  }
  return shown;
}

std::string front_in_words(const analysis::waves::WaveDirection& direction) {
  std::string out = analysis::plural(std::uint64_t(direction.reach_ranks), "rank");
  if (analysis::waves::came_in_one_step(direction)) return out + " in one step";
  if (analysis::waves::runs_along_no_line(direction)) return out + ", along no line";
  if (const auto& speed = direction.leading.ranks_per_step)
    out += fmt::format(", {} ranks/step", paint::to_figure(speed->value));
  if (const auto& speed = direction.leading.ranks_per_s)
    out += fmt::format(", {} ranks/s", paint::to_figure(std::abs(speed->value)));
  return out;
}

std::string in_words(const analysis::waves::Wave& wave) {
  return fmt::format("rank {}, step {}: up {}, down {}", wave.origin_rank, wave.origin_step, front_in_words(wave.up),
                     front_in_words(wave.down));
}

}  // namespace idlewave::view::map
