#include "monitor/view/panels/socket_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::panels {

namespace {

using analysis::domains::DomainState;
using paint::Ink;

std::string bandwidth_in_words(const Socket& socket) {
  return socket.measured()
             ? fmt::format("{:>4} {} {}", socket.bandwidth(), socket.unit().name, name_of(socket.activity.source))
             : "not measured";
}

std::string out_of(const Socket& socket) { return fmt::format(" of {}", socket.ranks()); }

/// Where there is no room for to_words().
std::string to_short_words(DomainState state) {
  switch (state) {
    case DomainState::kUnknown: return "too early";
    case DomainState::kSkewed: return "skewed";
    case DomainState::kComputational: return "comp. wave";
    case DomainState::kDisturbed: return "idle wave";
    case DomainState::kBereft: return "waits, loss";
    case DomainState::kAlone: return "alone";
    case DomainState::kNotActive:
    case DomainState::kLockstep:
    case DomainState::kStraggler:
    case DomainState::kStepsDiffer: break;
  }
  return to_words(state);
}

std::string state_in_words(DomainState state, bool in_short) {
  return in_short ? to_short_words(state) : to_words(state);
}

/// Of all states, so that a table does not change its columns with what happens.
int state_columns(bool in_short) {
  int widest = 0;
  for (int state = 0; state < analysis::domains::kDomainStates; ++state)
    widest = std::max(widest, paint::columns_of(state_in_words(DomainState(state), in_short)));
  return widest;
}

/// Columns of a table with a line for each socket. What has none is left out.
struct TableColumns {
  int label = 1;
  int bar = 0;
  int of = 0;
  int bandwidth = 0;
  int power = 0;
  int state = 0;
  bool short_states = false;
};

/// For the sockets that are shown: there may be thousands.
TableColumns table_columns(const Model& model, std::span<const int> shown, int columns) {
  TableColumns widest;
  for (const int i : shown) {
    const Socket s = socket(model, i);
    widest.label = std::max(widest.label, paint::columns_of(s.name()));
    widest.of = std::max(widest.of, paint::columns_of(out_of(s)));
    widest.bandwidth = std::max(widest.bandwidth, paint::columns_of(bandwidth_in_words(s)) + 2);
    if (const int power = paint::columns_of(s.power()); power > 0) widest.power = std::max(widest.power, power + 2);
  }
  TableColumns table{.label = std::clamp(widest.label, 1, std::max(columns / 3, 1)), .of = widest.of};
  constexpr int kCount = 6, kShortestBar = 8, kLongestBar = 22;
  int room = columns - table.label - kCount - table.of;
  const auto take = [&room](int& column, int wanted) {
    if (room - wanted < kShortestBar) return;
    column = wanted;
    room -= wanted;
  };
  const int in_short = state_columns(true) + 2, in_full = state_columns(false) + 2;
  take(table.state, in_short);
  take(table.bandwidth, widest.bandwidth);
  table.short_states = table.state == 0 || room - (in_full - in_short) < kShortestBar;
  if (!table.short_states) {
    table.state = in_full;
    room -= in_full - in_short;
  }
  if (widest.power > 0) take(table.power, widest.power);
  const int more_of_label = std::clamp(room - kShortestBar, 0, std::max(widest.label - table.label, 0));
  table.label += more_of_label;
  room -= more_of_label;
  table.bar = room < kShortestBar ? 0 : std::min(room, kLongestBar);
  return table;
}

void draw_line(paint::Canvas& canvas, int x, int y, const TableColumns& table, const Socket& socket, bool focused) {
  canvas.text(x, y, paint::shortened_inside(socket.name(), table.label), focused ? Ink::kCursor : Ink::kText);
  x = canvas.text(x + table.label, y, fmt::format(" {:>4} ", paint::to_active(socket.activity.active_now)),
                  Ink::kStrong, Ink::kDefault, true);
  const Bar bar{
      .value = socket.activity.active_now, .full = double(socket.ranks()), .mark = socket.activity.saturation_point};
  if (table.bar > 0) x = draw_bar(canvas, x, y, table.bar, bar);
  canvas.text(x, y, out_of(socket), Ink::kDim);
  if (table.bandwidth > 0)
    canvas.text(x + table.of + 2, y, bandwidth_in_words(socket), socket.measured() ? Ink::kText : Ink::kWarning);
  if (table.power > 0)
    canvas.text(x + table.of + table.bandwidth + 2, y, fmt::format("{:>{}}", socket.power(), table.power - 2),
                Ink::kText);
  if (table.state > 0)
    canvas.text(x + table.of + table.bandwidth + table.power + 2, y,
                state_in_words(socket.activity.state, table.short_states), Ink::kText);
}

/// The part of a list that there is room for, so that the cursor's is in it.
std::vector<int> shown_of(const std::vector<int>& order, const SocketLook& look, int room) {
  const int most = std::max(static_cast<int>(order.size()) - room, 0);
  const auto here = std::ranges::find(order, look.cursor) - order.begin();
  const int wanted = look.scrolled.value_or(static_cast<int>(here) - room / 2);
  const auto first = order.begin() + std::clamp(wanted, 0, most);
  return {first, first + std::min<std::ptrdiff_t>(room, order.end() - first)};
}

/// Share of a socket's ranks that are active, in percent: what sockets are ordered by, the lowest first. Not finer: those
/// that look alike would change places with every look.
int active_share(const Socket& socket) {
  return socket.ranks() == 0 ? 0 : static_cast<int>(std::lround(100 * socket.activity.active_now / socket.ranks()));
}

/// Sockets in one state.
struct StateGroup {
  std::vector<int> sockets;  ///< Indices of domains, the least active first, and those alike by their ranks.
  double active = 0;
  int ranks = 0;
};

/// The one with the smallest share of active ranks first.
std::vector<StateGroup> groups_by_state(const Model& model) {
  std::map<DomainState, StateGroup> groups;
  for (const int i : model.timeline.domains_by_rank()) {
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

std::string group_in_words(const Model& model, const StateGroup& group, int columns) {
  const std::string count = paint::to_count(double(group.sockets.size()));
  const std::string state(to_words(socket(model, group.sockets.front()).activity.state));
  const std::string active = fmt::format(": {} of {}", paint::to_active(group.active), group.ranks);
  const std::string noun = group.sockets.size() == 1 ? " socket " : " sockets ";
  const std::vector<std::string> variants = {count + noun + state + active + " active", count + noun + state + active,
                                             count + " " + state + active};
  const std::string fitting = paint::longest_fitting(variants, columns);
  return fitting.empty() ? paint::shortened(variants.back(), columns) : fitting;
}

/// Of more sockets than lines: how many are in each state, then those that are least active in it, state by state; the
/// cursor's last if it is not among them.
void draw_groups(paint::Canvas& canvas, const layout::Box& box, const SocketLook& look, const Model& model) {
  std::vector<int> order;
  int y = box.y;
  for (const StateGroup& group : groups_by_state(model)) {
    canvas.text(box.x, y++, group_in_words(model, group, box.width), Ink::kText);
    order.insert(order.end(), group.sockets.begin(), group.sockets.end());
  }
  const int room = box.y + box.height - y, here = look.cursor;
  const int most = std::max(static_cast<int>(order.size()) - room, 0);
  const auto first = order.begin() + std::clamp(look.scrolled.value_or(0), 0, most);
  std::vector<int> shown(first, first + std::min<std::ptrdiff_t>(room, order.end() - first));
  if (here >= 0 && std::find(shown.begin(), shown.end(), here) == shown.end()) shown.back() = here;
  const TableColumns table = table_columns(model, shown, box.width);
  for (const int i : shown) draw_line(canvas, box.x, y++, table, socket(model, i), i == here);
}

}  // namespace

void draw_socket_table(paint::Canvas& canvas, const layout::Box& box, const SocketLook& look, const Model& model) {
  constexpr int kLinesToGroup = 10;
  const int sockets = sockets_of(model);
  int y = box.y;
  if (sockets > box.height)
    canvas.text(box.x, y++, active_in_words(model, box.width), Ink::kStrong, Ink::kDefault, true);
  const int room = box.y + box.height - y;
  if (sockets > room && room >= kLinesToGroup) return draw_groups(canvas, {box.x, y, box.width, room}, look, model);
  const std::vector<int> shown = shown_of(model.timeline.domains_by_rank(), look, room);
  const TableColumns table = table_columns(model, shown, box.width);
  for (const int i : shown) draw_line(canvas, box.x, y++, table, socket(model, i), i == look.cursor);
}

}  // namespace idlewave::view::panels
