#pragma once
// Everything that a screen is drawn from, beside the operator's own state. Filled by the monitor's loop, read here.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitor/analysis/program/ghost.h"
#include "monitor/analysis/session/findings.h"
#include "monitor/timeline/timeline.h"
#include "probe/wire/no_command.h"

namespace idlewave::view {

using wire::Nanoseconds;
using wire::Rank;

/// How the session reaches us.
enum class LinkCondition : std::uint8_t { kWaiting, kLive, kEnded, kLost, kRefused };

/// The page of a lesson that is open. Texts are paragraphs, wrapped by the screen; any may be empty.
struct Lesson {
  std::string title;
  int page = 1;  ///< From 1.
  int pages = 1;
  std::string text;      ///< What to look for.
  std::string now;       ///< What is asked, to be done, watched, or was found.
  std::string figure;    ///< Which figure of which paper: "Fig. 4b, Afzal et al. 2020".
  std::string source;    ///< The paper.
  std::string expected;  ///< While something is asked, of whoever may answer: what an answer looks like.
  bool asks = false;     ///< `now` is a question.
  bool has_next = false;
  bool has_previous = false;
  bool led = false;     ///< Somebody else gives it: its pages are turned there.
  std::string locked;   ///< Why nothing may be ordered yet.
  std::string premise;  ///< What is not as the page needs it before something is ordered.
  Nanoseconds delay{};  ///< What the form for an injection proposes; 0: ten steps.
  Rank rank = -1;       ///< Which one it is for, while the page waits for that; -1: that at the cursor.
  std::string noise;    ///< What the form for noise proposes; empty: the usual.
  std::vector<wire::LessonFigure> figures{};  ///< Once something was measured.
  std::string verdict{};                      ///< `now` without them.
};

struct Recording {
  bool on = false;
  std::uint64_t bytes = 0;     ///< Of the file; above 0 and not `on`: it is closed.
  std::string failure;         ///< One line once writing has failed; else empty.
  bool is_ours_alone = false;  ///< Whether whoever started the session records it is not known here.
};

struct Replay {
  Nanoseconds position{};
  Nanoseconds duration{};
  double speed = 1;
  bool paused = false;
};

struct SessionInfo {
  std::string name;
  std::string label;  ///< Program or lesson.
  LinkCondition link = LinkCondition::kWaiting;
  std::string link_detail;  ///< Why lost or refused; what is being waited for. One line; may be empty.
  Nanoseconds lag{};        ///< How far timeline.now() lies behind the senders' present. Live only.
  double events_per_second = 0;
  Nanoseconds rhythm{};  ///< Step that the map's columns are locked to (rhythm.h); 0: none.
  Recording recording;
  std::optional<Replay> replay;  ///< Set if this is one.
  std::string loading;           ///< Replay: how much has been read until it plays, in words; empty: it plays.
  std::optional<wire::NoCommand> no_command = wire::NoCommand::kNobodyThere;  ///< Why not; nothing: one may.
  std::optional<Lesson> lesson;
  /// What would end with us if the operator quits, in words: then quitting asks first, and one can leave without ending
  /// it. Empty: nothing.
  std::string ends_with_us;
  bool can_detach = false;    ///< What is watched does not need this screen.
  bool host_records = false;  ///< What r asks for is done by the session's host, which does nothing for spectators.
};

/// Whether ranks can be held in this session; nobody is there for moments only.
inline bool may_hold(const SessionInfo& session) {
  return !session.no_command || session.no_command == wire::NoCommand::kNobodyThere;
}

/// References are to live at least as long as the call that gets the model.
struct Model {
  const timeline::Timeline& timeline;
  /// May be older than the timeline: numbers sit still between refreshes.
  const analysis::session::Findings& findings;
  std::span<const analysis::session::Remark> remarks;  ///< Narrator::remarks(), oldest first.
  const SessionInfo& session;
  /// Of what the map shows; null where nobody asked for it.
  const wire::Result<analysis::program::Ghost>* ghost = nullptr;
};

}  // namespace idlewave::view
