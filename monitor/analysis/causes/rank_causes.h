#pragma once
// What each rank waited, and for whom. docs/report.md has the definition.

#include <array>
#include <string_view>
#include <vector>

#include "monitor/analysis/per_rank.h"
#include "monitor/analysis/window.h"

namespace idlewave::analysis::causes {

/// Time that one rank made another wait.
struct Cost {
  Nanoseconds direct{};  ///< The other waited for it.
  Nanoseconds far{};     ///< The other waited for somebody who had waited because of it, however long the chain.

  Nanoseconds sum() const { return direct + far; }
  friend bool operator==(const Cost&, const Cost&) = default;
};

struct Culprit {
  Rank rank = 0;
  Cost cost;
  friend bool operator==(const Culprit&, const Culprit&) = default;
};

/// What one rank waited, by what ended it: something of the one who did its part last, and what came behind that. What is
/// not said is in none of them.
struct Ended {
  Nanoseconds by_message{};   ///< A late sender.
  Nanoseconds by_receive{};   ///< A late receiver: the send waited for it.
  Nanoseconds by_either{};    ///< The rank both sends to it, by rendezvous, and receives from it.
  Nanoseconds through{};      ///< Somebody between them had waited for it in the same step.
  Nanoseconds collectives{};  ///< The last of all that a collective needs.
  Nanoseconds messages{};     ///< Nobody any more: all had done their part.

  Nanoseconds sum() const { return by_message + by_receive + by_either + through + collectives + messages; }
  friend bool operator==(const Ended&, const Ended&) = default;
};

/// What may end a wait, in the order of reports.
struct WaitEnd {
  Nanoseconds Ended::*time;
  std::string_view key;    ///< In JSON.
  std::string_view name;   ///< In a list.
  std::string_view words;  ///< In a sentence.
};
inline constexpr std::array<WaitEnd, 6> kWaitEnds{
    {{&Ended::by_message, "late_sender", "late sender", "a late sender"},
     {&Ended::by_receive, "late_receiver", "late receiver", "a late receiver"},
     {&Ended::by_either, "late_partner", "late partner", "a late partner that sends and receives"},
     {&Ended::through, "through_others", "others between", "somebody their partner waited for"},
     {&Ended::collectives, "collective", "last in collective", "the last in a collective"},
     {&Ended::messages, "messages", "messages", "messages on their way"}}};

/// What one rank waited, and what it made others wait. To the nanosecond:
/// waited = sum of by + itself + bandwidth + transfer + unknown.
struct RankCauses {
  Nanoseconds waited{};     ///< Waiting and communicating.
  std::vector<Culprit> by;  ///< Other ranks that were late by their own doing, those that cost most first.
  Nanoseconds itself{};     ///< For somebody who had waited because of this rank.
  Nanoseconds bandwidth{};  ///< Somebody was late because memory bandwidth was shared: no rank's doing.
  Nanoseconds transfer{};   ///< All whom it waits for had done their part: messages, and what a program does beside.
  Nanoseconds unknown{};    ///< What would tell is not known: partners, their steps, or what was before them.
  Cost costs;               ///< Made all others wait.
  Ended ended;              ///< No more than waited.

  Cost by_others() const;
};

struct Causes {
  Window window;
  PerRank<RankCauses> ranks;  ///< Empty: not looked at yet.
};

}  // namespace idlewave::analysis::causes
