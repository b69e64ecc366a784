#include "monitor/view/panels/sockets_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "monitor/view/layout/layout.h"
#include "monitor/view/layout/moment.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/socket_lines.h"
#include "monitor/view/panels/socket_table.h"
#include "monitor/view/panels/sockets.h"

namespace idlewave::view::panels {

namespace {

using layout::Region;

constexpr PanelKey kSocketsKey = U'2';
constexpr int kMostLinesUnder = 8;
constexpr int kMostLinesOfMeters = 6;

/// How the sockets are told, most room first.
enum class SocketForm { kSpacious, kRoomy, kCompact, kTight, kLines, kSum };

int most_lines_of_meters(SocketForm form) {
  switch (form) {
    case SocketForm::kSpacious:
    case SocketForm::kRoomy: return kMostLinesOfMeters;
    case SocketForm::kCompact: return 1;
    case SocketForm::kTight:
    case SocketForm::kLines:
    case SocketForm::kSum: break;
  }
  return 0;
}

/// Of the forms that tell each socket in several lines. All sockets have a line of threads where any has some to tell of,
/// if there is room, and so many of meters as the one that has most to tell.
SocketLines lines_in(SocketForm form, const Model& model, int columns) {
  const auto tells = [](const analysis::domains::DomainActivity& activity) { return activity.threads_now.has_value(); };
  int meters = 0;
  for (int i = 0; i < sockets_of(model) && meters < most_lines_of_meters(form); ++i)
    meters = std::max(meters, lines_of_meters(socket(model, i), columns));
  return {.mean_below = form < SocketForm::kCompact,
          .threads = form < SocketForm::kTight && std::ranges::any_of(model.findings.domains, tells),
          .meters = std::min(meters, most_lines_of_meters(form))};
}

/// Lines that one socket takes; 1 for kLines, 0 for kSum, whose one line is for all.
int lines_per_socket(SocketForm form, const Model& model, int columns) {
  switch (form) {
    case SocketForm::kSpacious: return lines_in(form, model, columns).count() + 1;
    case SocketForm::kRoomy:
    case SocketForm::kCompact:
    case SocketForm::kTight: return lines_in(form, model, columns).count();
    case SocketForm::kLines: return 1;
    case SocketForm::kSum: break;
  }
  return 0;
}

/// `room`: beside the map, in rows of the map alone; what stands beside its axis is left for notes.
SocketForm form_in(Region region, paint::Size room, const Model& model) {
  const int sockets = std::max(sockets_of(model), 1);
  if (region == Region::kBeside) {
    for (const SocketForm form :
         {SocketForm::kSpacious, SocketForm::kRoomy, SocketForm::kCompact, SocketForm::kTight}) {
      const int blank_after_last = form == SocketForm::kSpacious ? 1 : 0;
      if (sockets * lines_per_socket(form, model, room.columns) - blank_after_last <= room.rows) return form;
    }
  }
  return room.rows > 1 ? SocketForm::kLines : SocketForm::kSum;
}

/// Why bandwidth does not come from a better source, once for all sockets of which that is true.
std::vector<std::string> notes(const Model& model) {
  std::vector<std::string> notes;
  for (int i = 0; i < sockets_of(model); ++i) {
    const Socket here = socket(model, i);
    if (!here.measured() || here.activity.note.empty()) continue;
    const std::string note = fmt::format("bandwidth is {}: {}", name_of(here.activity.source), here.activity.note);
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  return notes;
}

/// What a note says at length, as of each source what it lacks and who could mend it, is the matter of `doctor`.
std::vector<std::string> lines_of_notes(const Model& model, int columns) {
  constexpr std::size_t kMostOfNote = 3;
  std::vector<std::string> lines;
  for (const std::string& note : notes(model)) {
    std::vector<std::string> wrapped = paint::wrapped(note, columns);
    if (wrapped.size() > kMostOfNote) {
      wrapped.resize(kMostOfNote - 1);
      wrapped.push_back(paint::shortened("… 'idlewave doctor' says more", columns));
    }
    std::ranges::move(wrapped, std::back_inserter(lines));
  }
  return lines;
}

void draw_notes(paint::Canvas& canvas, const layout::Box& box, const Model& model) {
  const auto lines = lines_of_notes(model, box.width);
  for (int i = 0; i < std::min(static_cast<int>(lines.size()), box.height); ++i)
    canvas.text(box.x, box.y + i, lines[static_cast<std::size_t>(i)], paint::Ink::kDim);
}

/// Of the rows beside the map the first says of which moment all sockets are told.
int rows_beside(int height) { return height - 1; }

/// `means`: figures of a stretch of time stand among those of the moment.
std::string moment_in_words(const Model& model, bool means, int columns) {
  const std::string at = "at " + paint::to_moment(model.findings.window.to, std::chrono::milliseconds(100));
  const std::string length = paint::to_duration(model.findings.window.length());
  std::vector<std::string> variants;
  if (means)
    variants = {"sockets " + at + " · means of the last " + length, at + " · mean of the last " + length,
                at + " · mean of last " + length};
  variants.push_back("sockets " + at);
  return paint::longest_fitting(variants, columns);
}

/// In the first row of the box.
void draw_moment(paint::Canvas& canvas, const layout::Box& box, bool means, bool past, const Model& model) {
  const std::string words = moment_in_words(model, means, box.width);
  canvas.text(box.x, box.y, words, past ? paint::Ink::kWarning : paint::Ink::kDim);
  if (past) canvas.reverse(box.x, box.y, paint::columns_of(words));
}

int wish_for_sockets(const State&, const Model& model, const layout::Room& room) {
  const int sockets = std::max(sockets_of(model), 1);
  if (room.region != Region::kBeside) return sockets <= kMostLinesUnder ? sockets : 1;
  const paint::Size beside{room.size.columns, rows_beside(room.size.rows)};
  const int lines = lines_per_socket(form_in(room.region, beside, model), model, room.size.columns);
  const int notes = lines > 1 ? static_cast<int>(lines_of_notes(model, room.size.columns - 1).size()) : 0;
  return std::clamp(sockets * lines + 1 + notes, 1, std::max(room.size.rows, 1));
}

/// One below the other. `here`: of the cursor. Returns the lines that they take.
int draw_sockets(paint::Canvas& canvas, const layout::Box& box, SocketForm form, int here, const Model& model) {
  const SocketLines lines = lines_in(form, model, box.width);
  const int each = lines_per_socket(form, model, box.width);
  int used = 0;
  for (const int i : model.timeline.domains_by_rank()) {
    draw_socket(canvas, {box.x, box.y + used, box.width, each}, socket(model, i), lines, i == here);
    used += each;
  }
  return used;
}

void draw_sockets(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
                  const Look&) {
  const layout::Box box = layout.box_of(kSocketsKey);
  const int sockets = sockets_of(model);
  const Region region = layout.region_of(kSocketsKey);
  const int rows = region == Region::kBeside ? rows_beside(box.height) : box.height;
  const SocketForm form = form_in(region, {box.width, rows}, model);
  if (form == SocketForm::kSum || sockets == 0) {
    canvas.text(box.x, box.y, active_in_words(model, box.width), paint::Ink::kStrong, paint::Ink::kDefault, true);
    return;
  }
  const bool past = layout::shows_the_past(state, model, layout);
  const int here = model.timeline.domain_of(state.cursor_rank);
  if (form == SocketForm::kLines) {
    const int above = region == Region::kBeside ? 1 : 0;
    const std::optional<int> scrolled =
        state.focus == kSocketsKey ? std::optional(state.scrolled_by(kSocketsKey)) : std::nullopt;
    draw_socket_table(canvas, {box.x, box.y + above, box.width, box.height - above}, {here, scrolled}, model);
    if (above > 0) draw_moment(canvas, box, false, past, model);
    return;
  }
  draw_moment(canvas, box, true, past, model);
  const int used = 1 + draw_sockets(canvas, {box.x, box.y + 1, box.width, box.height - 1}, form, here, model);
  draw_notes(canvas, {box.x + 1, box.y + used, box.width - 1, box.height - used}, model);
}

void scroll_sockets(State& state, const Model& model, int lines) {
  state.scrolled[kSocketsKey] =
      std::clamp(state.scrolled_by(kSocketsKey) + lines, 0, std::max(sockets_of(model) - 1, 0));
}

}  // namespace

layout::Panel sockets_panel() {
  return {.key = kSocketsKey,
          .name = "sockets",
          .region = Region::kUnder,
          .region_if_wide = Region::kBeside,
          .takes_spare_rows = false,
          .wish = wish_for_sockets,
          .draw = draw_sockets,
          .scroll = scroll_sockets};
}

}  // namespace idlewave::view::panels
