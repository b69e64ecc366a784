#include "monitor/view/panels/sockets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "monitor/analysis/plural.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/pieces.h"

namespace idlewave::view::panels {

RateUnit Socket::unit() const {
  constexpr RateUnit kUnits[] = {{1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}};
  const double full = activity.saturated_bandwidth;
  if (full <= 0) return kUnits[0];
  const auto* fits = std::ranges::find_if(kUnits, [&](const RateUnit& unit) { return full >= unit.size; });
  return fits == std::end(kUnits) ? kUnits[2] : *fits;
}

std::string Socket::bandwidth() const {
  return activity.bandwidth ? paint::to_figure(*activity.bandwidth / unit().size) : "?";
}

std::string Socket::power() const {
  for (const analysis::domains::MeterFigures& figures : activity.meters) {
    if (timeline.meters()[static_cast<std::size_t>(figures.meter)].info.unit != "W") continue;
    return (figures.now ? paint::to_figure(*figures.now) : "?") + " W";
  }
  return {};
}

Socket socket(const Model& model, int index) {
  static const analysis::domains::DomainActivity kNothing;
  const auto i = static_cast<std::size_t>(index);
  return {model.timeline, index, model.timeline.domains()[i],
          i < model.findings.domains.size() ? model.findings.domains[i] : kNothing};
}

int sockets_of(const Model& model) { return static_cast<int>(model.timeline.domains().size()); }

std::string active_in_words(const Model& model, int columns) {
  const auto& domains = model.timeline.domains();
  if (domains.empty()) return paint::longest_fitting(std::vector<std::string>{"no rank yet", "-"}, columns);
  std::string each;
  double sum = 0;
  for (const int i : model.timeline.domains_by_rank()) {
    const double active = socket(model, i).activity.active_now;
    sum += active;
    if (domains.size() <= 32) each += " " + paint::to_active(active);
  }
  const Rank ranks = model.timeline.ranks();
  std::vector<std::string> variants = {
      fmt::format("active {} of {}", paint::to_active(sum), analysis::plural(ranks, "rank")),
      fmt::format("active {} of {}", paint::to_active(sum), ranks),
      fmt::format("{} of {}", paint::to_active(sum), ranks), fmt::format("{:.0f}/{}", sum, ranks),
      fmt::format("{:.0f}", sum)};
  const auto same_size = [&](const timeline::Domain& d) { return d.ranks.size() == domains.front().ranks.size(); };
  if (domains.size() > 1 && !each.empty() && std::all_of(domains.begin(), domains.end(), same_size)) {
    variants.push_back(fmt::format("active{} of {} each", each, domains.front().ranks.size()));
  }
  return paint::longest_fitting(variants, columns);
}

int draw_bar(paint::Canvas& canvas, int x, int y, int columns, const Bar& bar) {
  const int inside = columns - 2;
  const auto cells = [&](double v) {
    return bar.full > 0 ? static_cast<int>(std::lround(std::clamp(v / bar.full, 0.0, 1.0) * inside)) : 0;
  };
  canvas.text(x, y, "▕", paint::Ink::kDim);
  // a gap above, so that bars below each other stay two
  canvas.fill(x + 1, y, cells(bar.value), 1, {.glyph = U'▆', .fg = bar.ink});
  if (bar.mark > 0 && bar.mark < bar.full) {
    canvas.put(x + 1 + cells(bar.mark), y, {.glyph = U'┊', .fg = paint::Ink::kSaturation, .bold = true});
  }
  return canvas.text(x + 1 + inside, y, "▏", paint::Ink::kDim);
}

}  // namespace idlewave::view::panels
