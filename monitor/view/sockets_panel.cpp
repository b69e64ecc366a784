#include "monitor/view/sockets_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "monitor/analysis/plural.h"
#include "monitor/view/figures.h"
#include "monitor/view/layout.h"
#include "monitor/view/moment.h"
#include "monitor/view/pieces.h"
#include "monitor/view/text.h"

namespace idlewave::view {

namespace {

using analysis::DomainActivity;
using analysis::DomainState;
using timeline::Domain;

constexpr PanelKey kKey = U'2';
constexpr int kMostLinesUnder = 8;
constexpr double kGiga = 1e9;

/// How the sockets are told, most room first.
enum class SocketForm { kSpacious, kRoomy, kCompact, kLines, kSum };

/// Lines that one socket takes; 1 for kLines, 0 for kSum, whose one line is for all.
int lines_per_socket(SocketForm form) {
  switch (form) {
    case SocketForm::kSpacious: return 6;
    case SocketForm::kRoomy: return 5;
    case SocketForm::kCompact: return 4;
    case SocketForm::kLines: return 1;
    case SocketForm::kSum: break;
  }
  return 0;
}

/// `rows`: beside the map, those of the map alone; what stands beside its axis is left for notes.
SocketForm form_in(Region region, int sockets, int rows) {
  if (region == Region::kBeside) {
    for (const SocketForm form : {SocketForm::kSpacious, SocketForm::kRoomy, SocketForm::kCompact}) {
      const int blank_after_last = form == SocketForm::kSpacious ? 1 : 0;
      if (sockets * lines_per_socket(form) - blank_after_last <= rows) return form;
    }
  }
  return rows > 1 ? SocketForm::kLines : SocketForm::kSum;
}

/// A domain with what is known of its activity.
struct Socket {
  const Domain& domain;
  const DomainActivity& activity;
  int ranks() const { return static_cast<int>(domain.ranks.size()); }
  bool measured() const { return activity.source != wire::BandwidthSource::kNone; }
  std::string gigabytes() const { return activity.bandwidth ? to_figure(*activity.bandwidth / kGiga) : "?"; }
};

Socket socket(const Model& model, int index) {
  static const DomainActivity kNothing;
  const auto i = static_cast<std::size_t>(index);
  return {model.timeline.domains()[i], i < model.findings.domains.size() ? model.findings.domains[i] : kNothing};
}

int sockets_of(const Model& model) { return static_cast<int>(model.timeline.domains().size()); }

struct Bar {
  double value = 0;
  double full = 1;
  double mark = 0;  ///< 0: none.
  Ink ink = Ink::kActive;
};

/// Takes `columns` columns, frame included. Returns the next x.
int draw_bar(Canvas& canvas, int x, int y, int columns, const Bar& bar) {
  const int inside = columns - 2;
  const auto cells = [&](double v) {
    return bar.full > 0 ? static_cast<int>(std::lround(std::clamp(v / bar.full, 0.0, 1.0) * inside)) : 0;
  };
  canvas.text(x, y, "▕", Ink::kDim);
  // a gap above, so that bars below each other stay two
  canvas.fill(x + 1, y, cells(bar.value), 1, {.glyph = U'▆', .fg = bar.ink});
  if (bar.mark > 0 && bar.mark < bar.full) {
    canvas.put(x + 1 + cells(bar.mark), y, {.glyph = U'┊', .fg = Ink::kSaturation, .bold = true});
  }
  return canvas.text(x + 1 + inside, y, "▏", Ink::kDim);
}

std::string saturation(const DomainActivity& activity) {
  return activity.saturation_point > 0 ? "saturates at " + to_limit(activity.saturation_point) : "saturation unknown";
}

std::string state_in_words(const DomainActivity& activity) {
  const std::string words = to_words(activity.state);
  return activity.straggler < 0 ? words : fmt::format("{}: rank {}", words, activity.straggler);
}

/// Writes one socket from a given row on. Columns are shared by all its lines.
class SocketWriter {
 public:
  SocketWriter(Canvas& canvas, const Box& box, const Socket& socket)
      : canvas_(canvas), box_(box), socket_(socket), y_(box.y) {}

  void heading(bool focused) {
    const std::string where = socket_.domain.node.empty() ? "" : socket_.domain.node + " · ";
    const std::string which = (socket_.ranks() == 1 ? "rank " : "ranks ") + ranks_in_words(socket_.domain.ranks);
    const int room = std::max(box_.width - columns_of(socket_.domain.info.label) - 2, 12);
    const std::string ranks = shortened(longest_fitting({where + which, which}, room), room);
    const std::string label = shortened_inside(socket_.domain.info.label, box_.width - columns_of(ranks) - 2);
    canvas_.text(box_.x, y_, label, focused ? Ink::kCursor : Ink::kStrong, Ink::kDefault, true);
    canvas_.text(box_.x + box_.width - columns_of(ranks), y_++, ranks, Ink::kDim);
  }

  void active_now() { active_bar("active", socket_.activity.active_now, fmt::format("of {}", socket_.ranks())); }
  void active_mean() { active_bar("mean", socket_.activity.active_mean, saturation(socket_.activity)); }
  void active_with_mean() {
    active_bar("active", socket_.activity.active_now, "mean " + to_active(socket_.activity.active_mean));
  }

  void bandwidth() {
    if (!socket_.measured()) return not_measured();
    const double full = socket_.activity.saturated_bandwidth;
    const std::string unit = full > 0 ? fmt::format("of {} GB/s", to_limit(full / kGiga)) : "GB/s";
    const std::string source(name_of(socket_.activity.source));
    int x = figure(bandwidth_label(), socket_.gigabytes());
    const std::string tail = unit + " " + source;
    if (full > 0 && bar_columns() >= 6 && tail_columns() >= columns_of(tail)) {
      x = draw_bar(canvas_, x, y_, bar_columns(),
                   {.value = socket_.activity.bandwidth.value_or(0), .full = full, .ink = Ink::kBandwidth}) +
          1;
    }
    x = canvas_.text(x, y_, unit + " ", Ink::kText);
    canvas_.text(x, y_++, source, Ink::kDim);
  }

  void state(bool with_saturation) {
    int x = canvas_.text(box_.x + 1, y_, fmt::format("{:<{}}", "state", label_columns()), Ink::kDim);
    x = canvas_.text(x, y_, state_in_words(socket_.activity), Ink::kText);
    const double point = socket_.activity.saturation_point;
    std::vector<std::string> tails = {" · " + saturation(socket_.activity)};
    if (point > 0) tails.push_back(" · ┊ " + to_limit(point));
    if (with_saturation) canvas_.text(x, y_, longest_fitting(tails, box_.x + box_.width - x), Ink::kDim);
    ++y_;
  }

 private:
  int label_columns() const { return box_.width >= 44 ? 10 : 7; }
  const char* bandwidth_label() const { return box_.width >= 44 ? "bandwidth" : "memory"; }
  static constexpr int kFigure = 4;

  int tail_columns() const { return box_.width >= 52 ? 21 : box_.width >= 44 ? 18 : 9; }
  int bar_columns() const { return std::min(box_.width - 1 - label_columns() - kFigure - 1 - tail_columns() - 1, 22); }

  int figure(const char* label, const std::string& value) {
    const int x = canvas_.text(box_.x + 1, y_, fmt::format("{:<{}}", label, label_columns()), Ink::kDim);
    return canvas_.text(x, y_, fmt::format("{:>{}} ", value, kFigure), Ink::kStrong, Ink::kDefault, true);
  }

  void active_bar(const char* label, double value, const std::string& tail) {
    int x = figure(label, to_active(value));
    x = draw_bar(canvas_, x, y_, bar_columns(),
                 {.value = value, .full = double(socket_.ranks()), .mark = socket_.activity.saturation_point});
    if (columns_of(tail) < box_.x + box_.width - x) canvas_.text(x + 1, y_, tail, Ink::kDim);
    ++y_;
  }

  void not_measured() {
    int x = canvas_.text(box_.x + 1, y_, fmt::format("{:<{}}", bandwidth_label(), label_columns()), Ink::kDim);
    x = canvas_.text(x, y_, "not measured", Ink::kWarning);
    const int room = box_.x + box_.width - x - 2;
    if (!socket_.activity.note.empty() && room >= 8)
      canvas_.text(x, y_, ": " + shortened(socket_.activity.note, room), Ink::kDim);
    ++y_;
  }

  Canvas& canvas_;
  const Box& box_;
  const Socket& socket_;
  int y_;
};

void draw_one(Canvas& canvas, const Box& box, SocketForm form, const Socket& socket, bool focused) {
  SocketWriter writer(canvas, box, socket);
  writer.heading(focused);
  if (form == SocketForm::kCompact) {
    writer.active_with_mean();
  } else {
    writer.active_now();
    writer.active_mean();
  }
  writer.bandwidth();
  writer.state(form == SocketForm::kCompact);
}

std::string bandwidth_in_words(const Socket& socket) {
  return socket.measured() ? fmt::format("{:>4} GB/s {}", socket.gigabytes(), name_of(socket.activity.source))
                           : "not measured";
}

/// Where there is no room for to_words().
std::string to_short_words(DomainState state) {
  switch (state) {
    case DomainState::kUnknown: return "too early";
    case DomainState::kSkewed: return "skewed";
    case DomainState::kComputational: return "comp. wave";
    case DomainState::kDisturbed: return "idle wave";
    default: return to_words(state);
  }
}

std::string state_in_words(DomainState state, bool in_short) {
  return in_short ? to_short_words(state) : to_words(state);
}

/// Of all states, so that a table does not change its columns with what happens.
int state_columns(bool in_short) {
  int widest = 0;
  for (int state = 0; state < analysis::kDomainStates; ++state)
    widest = std::max(widest, columns_of(state_in_words(DomainState(state), in_short)));
  return widest;
}

/// Columns of a table with a line for each socket. What has none is left out.
struct TableColumns {
  int label = 1;
  int bar = 0;
  int of = 0;
  int bandwidth = 0;
  int state = 0;
  bool short_states = false;
};

/// For the sockets that are shown: there may be thousands.
TableColumns table_columns(const Model& model, std::span<const int> shown, int columns) {
  TableColumns widest;
  for (const int i : shown) {
    const Socket s = socket(model, i);
    widest.label = std::max(widest.label, columns_of(s.domain.info.label));
    widest.of = std::max(widest.of, static_cast<int>(fmt::formatted_size(" of {}", s.ranks())));
    widest.bandwidth = std::max(widest.bandwidth, columns_of(bandwidth_in_words(s)) + 2);
  }
  TableColumns table{.label = std::clamp(widest.label, 1, std::max(columns / 3, 1)), .of = widest.of};
  constexpr int kCount = 6, kShortestBar = 8, kLongestBar = 22;
  int room = columns - table.label - kCount - table.of;
  const auto take = [&room](int& column, int wanted) {
    if (room - wanted < kShortestBar) return;
    column = wanted;
    room -= wanted;
  };
  take(table.bandwidth, widest.bandwidth);
  take(table.state, state_columns(false) + 2);
  table.short_states = table.state == 0;
  if (table.short_states) take(table.state, state_columns(true) + 2);
  table.bar = room < kShortestBar ? 0 : std::min(room, kLongestBar);
  return table;
}

void draw_line(Canvas& canvas, int x, int y, const TableColumns& table, const Socket& socket, bool focused) {
  canvas.text(x, y, shortened_inside(socket.domain.info.label, table.label), focused ? Ink::kCursor : Ink::kText);
  x = canvas.text(x + table.label, y, fmt::format(" {:>4} ", to_active(socket.activity.active_now)), Ink::kStrong,
                  Ink::kDefault, true);
  const Bar bar{
      .value = socket.activity.active_now, .full = double(socket.ranks()), .mark = socket.activity.saturation_point};
  if (table.bar > 0) x = draw_bar(canvas, x, y, table.bar, bar);
  canvas.text(x, y, fmt::format(" of {}", socket.ranks()), Ink::kDim);
  if (table.bandwidth > 0)
    canvas.text(x + table.of + 2, y, bandwidth_in_words(socket), socket.measured() ? Ink::kText : Ink::kWarning);
  if (table.state > 0)
    canvas.text(x + table.of + table.bandwidth + 2, y, state_in_words(socket.activity.state, table.short_states),
                Ink::kText);
}

/// All, as their ranks stand on the map: nodes announce their domains in any order.
std::vector<int> by_rank(const Model& model) {
  std::vector<int> order(static_cast<std::size_t>(sockets_of(model)));
  std::iota(order.begin(), order.end(), 0);
  const auto first_rank = [&](int i) {
    const auto& ranks = model.timeline.domains()[static_cast<std::size_t>(i)].ranks;
    return ranks.empty() ? std::numeric_limits<Rank>::max() : ranks.front();
  };
  std::ranges::stable_sort(order, {}, first_rank);
  return order;
}

/// The part of a list that there is room for, so that the cursor's is in it.
std::vector<int> shown_of(const std::vector<int>& order, const State& state, const Model& model, int room) {
  const int most = std::max(static_cast<int>(order.size()) - room, 0);
  const auto here = std::ranges::find(order, model.timeline.domain_of(state.cursor_rank)) - order.begin();
  const int wanted = state.focus == kKey ? state.scrolled_by(kKey) : static_cast<int>(here) - room / 2;
  const auto first = order.begin() + std::clamp(wanted, 0, most);
  return {first, first + std::min<std::ptrdiff_t>(room, order.end() - first)};
}

/// Share of a socket's ranks that are active: what sockets are ordered by, the lowest first.
double active_share(const Socket& socket) {
  return socket.ranks() == 0 ? 0 : socket.activity.active_now / socket.ranks();
}

/// Sockets in one state.
struct StateGroup {
  std::vector<int> sockets;  ///< Indices of domains, the least active first.
  double active = 0;
  int ranks = 0;
};

/// The one with the smallest share of active ranks first.
std::vector<StateGroup> groups_by_state(const Model& model) {
  std::map<DomainState, StateGroup> groups;
  for (int i = 0; i < sockets_of(model); ++i) {
    const Socket each = socket(model, i);
    StateGroup& group = groups[each.activity.state];
    group.sockets.push_back(i);
    group.active += each.activity.active_now;
    group.ranks += each.ranks();
  }
  std::vector<StateGroup> out;
  for (auto& [state, group] : groups) {
    std::stable_sort(group.sockets.begin(), group.sockets.end(),
                     [&](int a, int b) { return active_share(socket(model, a)) < active_share(socket(model, b)); });
    out.push_back(std::move(group));
  }
  std::stable_sort(out.begin(), out.end(), [](const StateGroup& a, const StateGroup& b) {
    return a.active * std::max(b.ranks, 1) < b.active * std::max(a.ranks, 1);
  });
  return out;
}

std::string group_in_words(const Model& model, const StateGroup& group) {
  const std::size_t count = group.sockets.size();
  return fmt::format("{} socket{} {}: {} of {} active", to_count(double(count)), count == 1 ? "" : "s",
                     to_words(socket(model, group.sockets.front()).activity.state), to_active(group.active),
                     group.ranks);
}

/// Of more sockets than lines: how many are in each state, then those that are least active in it, state by state; the
/// cursor's last if it is not among them.
void draw_groups(Canvas& canvas, const Box& box, const State& state, const Model& model) {
  std::vector<int> order;
  int y = box.y;
  for (const StateGroup& group : groups_by_state(model)) {
    canvas.text(box.x, y++, shortened(group_in_words(model, group), box.width), Ink::kText);
    order.insert(order.end(), group.sockets.begin(), group.sockets.end());
  }
  const int room = box.y + box.height - y, here = model.timeline.domain_of(state.cursor_rank);
  const int scrolled = state.focus == kKey ? state.scrolled_by(kKey) : 0;
  const auto first = order.begin() + std::clamp(scrolled, 0, std::max(static_cast<int>(order.size()) - room, 0));
  std::vector<int> shown(first, first + std::min<std::ptrdiff_t>(room, order.end() - first));
  if (here >= 0 && std::find(shown.begin(), shown.end(), here) == shown.end()) shown.back() = here;
  const TableColumns table = table_columns(model, shown, box.width);
  for (const int i : shown) draw_line(canvas, box.x, y++, table, socket(model, i), i == here);
}

constexpr int kLinesToGroup = 10;

void draw_lines(Canvas& canvas, const Box& box, const State& state, const Model& model) {
  const int sockets = sockets_of(model);
  int y = box.y;
  if (sockets > box.height)
    canvas.text(box.x, y++, active_in_words(model, box.width), Ink::kStrong, Ink::kDefault, true);
  const int room = box.y + box.height - y;
  if (sockets > room && room >= kLinesToGroup) return draw_groups(canvas, {box.x, y, box.width, room}, state, model);
  const std::vector<int> shown = shown_of(by_rank(model), state, model, room);
  const TableColumns table = table_columns(model, shown, box.width);
  for (const int i : shown) {
    draw_line(canvas, box.x, y++, table, socket(model, i), model.timeline.domain_of(state.cursor_rank) == i);
  }
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

std::vector<std::string> lines_of_notes(const Model& model, int columns) {
  std::vector<std::string> lines;
  for (const std::string& note : notes(model))
    for (std::string& line : wrapped(note, columns)) lines.push_back(std::move(line));
  return lines;
}

void draw_notes(Canvas& canvas, const Box& box, const Model& model) {
  const auto lines = lines_of_notes(model, box.width);
  for (int i = 0; i < std::min(static_cast<int>(lines.size()), box.height); ++i)
    canvas.text(box.x, box.y + i, lines[static_cast<std::size_t>(i)], Ink::kDim);
}

/// The column beside the map reaches one row below it, where the moment stands of which all sockets are told.
int rows_beside(int height) { return height - 1; }

std::string moment_in_words(const Model& model) {
  return "sockets at " + to_moment(model.findings.window.to, std::chrono::milliseconds(100));
}

void draw_moment(Canvas& canvas, const Box& box, int y, bool past, const Model& model) {
  const std::string words = shortened(moment_in_words(model), box.width);
  canvas.text(box.x, y, words, past ? Ink::kWarning : Ink::kDim);
  if (past) canvas.reverse(box.x, y, columns_of(words));
}

int wish(const State&, const Model& model, const Room& room) {
  const int sockets = std::max(sockets_of(model), 1);
  if (room.region != Region::kBeside) return sockets <= kMostLinesUnder ? sockets : 1;
  const int rows = rows_beside(room.size.rows);
  const int lines = lines_per_socket(form_in(room.region, sockets, rows));
  const int notes = lines > 1 ? static_cast<int>(lines_of_notes(model, room.size.columns - 1).size()) : 0;
  return std::clamp(sockets * lines + 1 + notes, 1, std::max(room.size.rows, 1));
}

void draw(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look&) {
  const Box box = layout.box_of(kKey);
  const int sockets = sockets_of(model);
  const Region region = layout.region_of(kKey);
  const SocketForm form =
      form_in(region, std::max(sockets, 1), region == Region::kBeside ? rows_beside(box.height) : box.height);
  if (form == SocketForm::kSum || sockets == 0) {
    canvas.text(box.x, box.y, active_in_words(model, box.width), Ink::kStrong, Ink::kDefault, true);
    return;
  }
  const bool past = shows_the_past(state, model, layout);
  if (form == SocketForm::kLines) {
    const int under = region == Region::kBeside ? 1 : 0;
    draw_lines(canvas, {box.x, box.y, box.width, box.height - under}, state, model);
    if (under > 0) draw_moment(canvas, box, box.y + box.height - 1, past, model);
    return;
  }
  const int here = model.timeline.domain_of(state.cursor_rank), lines = lines_per_socket(form);
  int used = 0;
  for (const int i : by_rank(model)) {
    draw_one(canvas, {box.x, box.y + used, box.width, lines}, form, socket(model, i), i == here);
    used += lines;
  }
  draw_moment(canvas, box, box.y + used, past, model);
  draw_notes(canvas, {box.x + 1, box.y + used + 1, box.width - 1, box.height - used - 1}, model);
}

void scroll(State& state, const Model& model, int lines) {
  state.scrolled[kKey] = std::clamp(state.scrolled_by(kKey) + lines, 0, std::max(sockets_of(model) - 1, 0));
}

}  // namespace

std::string active_in_words(const Model& model, int columns) {
  const auto& domains = model.timeline.domains();
  std::string each;
  double sum = 0;
  for (const int i : by_rank(model)) {
    const double active = socket(model, i).activity.active_now;
    sum += active;
    if (domains.size() <= 32) each += " " + to_active(active);
  }
  const Rank ranks = model.timeline.ranks();
  std::vector<std::string> variants = {fmt::format("active {} of {}", to_active(sum), analysis::plural(ranks, "rank")),
                                       fmt::format("active {} of {}", to_active(sum), ranks),
                                       fmt::format("{} of {}", to_active(sum), ranks),
                                       fmt::format("{:.0f}/{}", sum, ranks), fmt::format("{:.0f}", sum)};
  const auto same_size = [&](const Domain& d) { return d.ranks.size() == domains.front().ranks.size(); };
  if (domains.size() > 1 && !each.empty() && std::all_of(domains.begin(), domains.end(), same_size)) {
    variants.push_back(fmt::format("active{} of {} each", each, domains.front().ranks.size()));
  }
  return longest_fitting(variants, columns);
}

Panel sockets_panel() {
  return {.key = kKey,
          .name = "sockets",
          .region = Region::kUnder,
          .region_if_wide = Region::kBeside,
          .takes_spare_rows = false,
          .wish = wish,
          .draw = draw,
          .scroll = scroll};
}

}  // namespace idlewave::view
