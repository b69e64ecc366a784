#pragma once
// What the operator has chosen to look at and is typing. A plain value: update() makes the next one, draw() reads it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "monitor/analysis/program/outlook.h"
#include "monitor/timeline/timeline.h"
#include "probe/wire/frame.h"

namespace idlewave::view {

using wire::Nanoseconds;
using wire::Rank;

/// A panel is known by the key that brings the focus to it (panels.h).
using PanelKey = char32_t;
inline constexpr PanelKey kMapKey = U'1';

enum class FormKind : std::uint8_t {
  kInject,   ///< Asks for a duration.
  kNoise,    ///< Asks for a kind of noise.
  kConfirm,  ///< Shows `command` in words and waits for y or n.
  kGoto,     ///< Asks for a time, rank or step.
  kFilter,   ///< Asks for ranks.
  kQuit,     ///< Says what would end, and waits for y, n or d.
  kAnswer,   ///< Asks what the lesson asks.
};

/// One line at the bottom that takes the keys while it is open.
struct Form {
  FormKind kind = FormKind::kInject;
  Rank rank = 0;                         ///< kInject: the rank to be held.
  std::string text{};                    ///< What has been typed; ASCII.
  bool untouched = true;                 ///< `text` is our proposal: the first character typed replaces it.
  std::string complaint{};               ///< What would be accepted, after input that was not.
  wire::Command command{};               ///< kConfirm: to be sent; its id is 0.
  analysis::program::Outlook outlook{};  ///< kInject: of the program when the form was opened.
  friend bool operator==(const Form&, const Form&) = default;
};

/// A place that the operator wants to find again.
struct Mark {
  Nanoseconds at{};
  Rank rank = 0;
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// Ranks [first, last) that the map shows.
using RankRange = timeline::Timeline::RankRange;

enum class Tone : std::uint8_t { kPlain, kGood, kWarning, kError };

/// One line that answers the last key, or tells what the monitor did; stays until the next key or until the session has
/// come so far that it has had its time.
struct Message {
  std::string text;
  Tone tone = Tone::kPlain;
  Nanoseconds until = Nanoseconds::max();
  friend bool operator==(const Message&, const Message&) = default;
};

struct State {
  Rank cursor_rank = 0;
  std::optional<Nanoseconds> cursor_time;  ///< Unset: at the newest column.

  bool follow = true;          ///< The map's right edge keeps up with the data.
  Nanoseconds window_begin{};  ///< Left edge of the map while not following; drawn from the start of its column.
  /// A column is about kFinestColumn * 2^zoom wide (time_window.h). Unset: fits the screen's width.
  std::optional<int> zoom;
  bool by_steps = false;      ///< The map's columns are steps, each rank's own (step_window.h), instead of time.
  int step_zoom = 0;          ///< By steps: a column is 2^step_zoom of them.
  wire::Step first_step = 0;  ///< By steps: left edge of the map while not following.
  bool ghost = false;         ///< The map shows where ranks leave the model (ghost_map.h), not what they do.
  bool threads = false;  ///< The map has a line for each thread, below its rank, where there is room (rank_rows.h).
  bool paused = false;
  Nanoseconds paused_at{};  ///< While paused, nothing later than this is shown.

  Rank first_rank = 0;            ///< Place, among the ranks that pass the filter, of the topmost on the map.
  Rank ranks_shown = 0;           ///< 0: all.
  std::vector<RankRange> filter;  ///< Ascending, disjoint. Empty: all ranks.

  PanelKey focus = kMapKey;
  std::map<PanelKey, int> scrolled;  ///< How far panels other than the map have been scrolled, each in its own measure.
  bool help = false;
  int help_scroll = 0;

  bool lesson_open = false;  ///< The page of the lesson covers the screen.
  int premise_waived = 0;    ///< Page of the lesson on which orders are given although its premise does not hold.

  std::optional<Form> form;
  Message message;
  std::vector<Mark> marks;

  int scrolled_by(PanelKey panel) const {
    const auto found = scrolled.find(panel);
    return found == scrolled.end() ? 0 : found->second;
  }
};

}  // namespace idlewave::view
