#include "monitor/view/panels/socket_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::panels {

namespace {

using analysis::domains::DomainActivity;
using paint::Ink;

constexpr int kFewestOfNote = 24;   // columns in which the begin of a note says something
constexpr int kFewestOfRanks = 12;  // columns for which ranks they are

/// The longest first.
std::vector<std::string> saturation(const DomainActivity& activity) {
  if (activity.saturation_point <= 0) return {"saturation unknown"};
  const std::string point = paint::to_limit(activity.saturation_point), words = "saturates at " + point;
  if (!activity.is_calibrated) return {words};
  return {words + ", as calibrated", "┊ " + point + " as calibrated", words};
}

std::string state_in_words(const DomainActivity& activity) {
  const std::string words = to_words(activity.state);
  return activity.straggler < 0 ? words : fmt::format("{}: rank {}", words, activity.straggler);
}

std::string shortened_between_words(std::string_view text, int columns) {
  return paint::columns_of(text) <= columns ? std::string(text) : paint::wrapped(text, columns - 2).front() + " …";
}

int label_columns_in(int columns) { return columns >= 44 ? 10 : 7; }

/// What hardware tells beside bandwidth, broken into lines between one meter and the next.
std::vector<std::string> meters_in_words(const Socket& socket, int columns) {
  std::string words;
  for (const analysis::domains::MeterFigures& figures : socket.activity.meters) {
    const wire::MeterInfo& info = socket.timeline.meters()[std::size_t(figures.meter)].info;
    const std::string value = figures.now ? paint::to_figure(*figures.now) : "?";
    const std::string unit = info.unit.empty() ? "" : info.unit + " ";
    const bool is_last = &figures == &socket.activity.meters.back();
    words +=
        paint::unbroken(fmt::format("{} {}{}{}", value, unit, info.name, is_last ? "" : " ·")) + (is_last ? "" : " ");
  }
  return words.empty() ? std::vector<std::string>()
                       : paint::wrapped(words, std::max(columns - 1 - label_columns_in(columns), 1));
}

/// Writes one socket from a given row on. Columns are shared by all its lines.
class SocketWriter {
 public:
  SocketWriter(paint::Canvas& canvas, const layout::Box& box, const Socket& socket)
      : canvas_(canvas), box_(box), socket_(socket), y_(box.y) {}

  void heading(bool focused) {
    const std::string which = (socket_.ranks() == 1 ? "rank " : "ranks ") + paint::ranks_in_words(socket_.domain.ranks);
    const std::string& node = socket_.domain.node;
    const std::string where = node.empty() ? which : node + " · " + which;
    const bool has_room = paint::columns_of(socket_.domain.info.label) + 2 + paint::columns_of(where) <= box_.width;
    const std::string name = has_room ? socket_.domain.info.label : socket_.name();
    const std::string ranks =
        has_room ? where : paint::shortened(which, std::max(box_.width - paint::columns_of(name) - 2, kFewestOfRanks));
    const std::string label = paint::shortened_inside(name, box_.width - paint::columns_of(ranks) - 2);
    canvas_.text(box_.x, y_, label, focused ? Ink::kCursor : Ink::kStrong, Ink::kDefault, true);
    canvas_.text(box_.x + box_.width - paint::columns_of(ranks), y_++, ranks, Ink::kDim);
  }

  void active_now() { rank_bar("active", socket_.activity.active_now, {fmt::format("of {}", socket_.ranks())}); }
  void active_mean() { rank_bar("mean", socket_.activity.active_mean, saturation(socket_.activity)); }
  void active_with_mean() {
    rank_bar("active", socket_.activity.active_now, {"mean " + paint::to_active(socket_.activity.active_mean)});
  }

  /// Of the members that tell.
  void threads() {
    const auto& use = socket_.activity.threads_now;
    if (!use) return static_cast<void>(++y_);
    bar("threads", {.value = use->working, .full = use->most},
        {fmt::format("of {:.0f}, {} sleep", use->most, paint::to_active(use->asleep)),
         fmt::format("of {:.0f}", use->most)});
  }

  /// `with_power`: there is no line for meters.
  void bandwidth(bool with_power) {
    if (!socket_.measured()) return not_measured();
    const double full = socket_.activity.saturated_bandwidth;
    const auto [size, name] = socket_.unit();
    const std::string unit = full > 0 ? fmt::format("of {} {}", paint::to_limit(full / size), name) : name;
    const std::string source(name_of(socket_.activity.source));
    int x = figure(bandwidth_label(), socket_.bandwidth());
    const std::string tail = unit + " " + source;
    if (full > 0 && bar_columns() >= 6 && tail_columns() >= paint::columns_of(tail)) {
      x = draw_bar(canvas_, x, y_, bar_columns(),
                   {.value = socket_.activity.bandwidth.value_or(0), .full = full, .ink = Ink::kBandwidth}) +
          1;
    }
    x = canvas_.text(x, y_, unit + " ", Ink::kText);
    x = canvas_.text(x, y_, source, Ink::kDim);
    const std::string power = " · " + socket_.power();
    if (with_power && !socket_.power().empty() && x + paint::columns_of(power) <= box_.x + box_.width)
      canvas_.text(x, y_, power, Ink::kText);
    ++y_;
  }

  void meters(int most) {
    if (most == 0) return;
    const std::vector<std::string> told = meters_in_words(socket_, box_.width);
    canvas_.text(box_.x + 1, y_, told.empty() ? "" : "meters", Ink::kDim);
    for (int i = 0; i < most; ++i, ++y_) {
      if (std::size_t(i) >= told.size()) continue;
      const bool is_cut = i + 1 == most && told.size() > std::size_t(most);
      const int x = box_.x + 1 + label_columns(), room = box_.x + box_.width - x;
      canvas_.text(x, y_, paint::shortened(told[std::size_t(i)] + (is_cut ? " …" : ""), room), Ink::kText);
    }
  }

  void state(bool with_saturation) {
    int x = canvas_.text(box_.x + 1, y_, fmt::format("{:<{}}", "state", label_columns()), Ink::kDim);
    x = canvas_.text(x, y_, state_in_words(socket_.activity), Ink::kText);
    const double point = socket_.activity.saturation_point;
    std::vector<std::string> tails;
    for (const std::string& words : saturation(socket_.activity)) tails.push_back(" · " + words);
    if (point > 0) tails.push_back(" · ┊ " + paint::to_limit(point));
    if (with_saturation) canvas_.text(x, y_, paint::longest_fitting(tails, box_.x + box_.width - x), Ink::kDim);
    ++y_;
  }

 private:
  int label_columns() const { return label_columns_in(box_.width); }
  const char* bandwidth_label() const { return box_.width >= 44 ? "bandwidth" : "memory"; }
  static constexpr int kFigure = 4;

  int tail_columns() const { return box_.width >= 52 ? 21 : box_.width >= 44 ? 18 : 9; }
  int bar_columns() const { return std::min(box_.width - 1 - label_columns() - kFigure - 1 - tail_columns() - 1, 22); }

  int figure(const char* label, const std::string& value) {
    const int x = canvas_.text(box_.x + 1, y_, fmt::format("{:<{}}", label, label_columns()), Ink::kDim);
    return canvas_.text(x, y_, fmt::format("{:>{}} ", value, kFigure), Ink::kStrong, Ink::kDefault, true);
  }

  void rank_bar(const char* label, double value, const std::vector<std::string>& tails) {
    bar(label, {.value = value, .full = double(socket_.ranks()), .mark = socket_.activity.saturation_point}, tails);
  }

  /// The longest label is as wide as all labels may be, so that four columns would touch it.
  std::string figure_beside(std::string_view label, double value) const {
    return paint::columns_of(label) < label_columns() || value < 9.95 ? paint::to_active(value)
                                                                      : fmt::format("{:.0f}", value);
  }

  void bar(const char* label, const Bar& drawn, const std::vector<std::string>& tails) {
    int x = figure(label, figure_beside(label, drawn.value));
    x = draw_bar(canvas_, x, y_, bar_columns(), drawn);
    canvas_.text(x + 1, y_++, paint::longest_fitting(tails, box_.x + box_.width - x - 1), Ink::kDim);
  }

  void not_measured() {
    int x = canvas_.text(box_.x + 1, y_, fmt::format("{:<{}}", bandwidth_label(), label_columns()), Ink::kDim);
    x = canvas_.text(x, y_, "not measured", Ink::kWarning);
    const std::string& note = socket_.activity.note;
    const int room = box_.x + box_.width - x;
    const bool tells = paint::columns_of(note) + 2 <= room || room >= kFewestOfNote;
    if (!note.empty() && tells)
      canvas_.text(x, y_, ": " + shortened_between_words(note, room - 2), Ink::kDim);
    else if (!note.empty())
      canvas_.text(x, y_, paint::longest_fitting({", see doctor"}, room), Ink::kDim);
    ++y_;
  }

  paint::Canvas& canvas_;
  const layout::Box& box_;
  const Socket& socket_;
  int y_;
};

}  // namespace

int lines_of_meters(const Socket& socket, int columns) {
  return static_cast<int>(meters_in_words(socket, columns).size());
}

void draw_socket(paint::Canvas& canvas, const layout::Box& box, const Socket& socket, const SocketLines& lines,
                 bool focused) {
  SocketWriter writer(canvas, box, socket);
  writer.heading(focused);
  if (lines.mean_below) {
    writer.active_now();
    writer.active_mean();
  } else {
    writer.active_with_mean();
  }
  if (lines.threads) writer.threads();
  writer.bandwidth(lines.meters == 0);
  writer.meters(lines.meters);
  writer.state(!lines.mean_below);
}

}  // namespace idlewave::view::panels
