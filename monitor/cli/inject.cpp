#include <fmt/format.h>

#include <algorithm>

#include "monitor/cli/joining.h"
#include "monitor/cli/monitor.h"
#include "monitor/cli/verbs.h"

namespace idlewave::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Nanoseconds kPatienceForOutcome = std::chrono::seconds(5);

/// Works until `done` or patience is over; false in the second case.
template <class Condition>
bool work_until(Monitor& monitor, Clock::time_point start, Condition done) {
  const Nanoseconds deadline = Clock::now() - start + kPatienceForOutcome;
  while (!done()) {
    const Nanoseconds now = Clock::now() - start;
    if (now > deadline) return false;
    monitor.work(now);
    monitor.wait(std::chrono::milliseconds(20), -1);
  }
  return true;
}

const timeline::CommandRecord* answer(const Monitor& monitor, wire::CommandId id) {
  const auto& commands = monitor.observer().timeline().commands();
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [id](const auto& record) { return record.answered && record.command.id == id; });
  return found == commands.end() ? nullptr : &*found;
}

/// The first of these that has not been announced and may still be: ranks of a program that starts join one by one, and
/// no agent answers for one that has yet to join.
std::optional<wire::Rank> missing(const timeline::Timeline& timeline, const std::vector<wire::Rank>& ranks) {
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](wire::Rank rank) {
    return !timeline.lane(rank) && (timeline.ranks() == 0 || rank < timeline.ranks());
  });
  return found == ranks.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

int inject(const InjectOptions& options) {
  auto way = join({.session = options.session, .key = options.key, .over = options.over});
  if (const auto* no_way = std::get_if<NotReached>(&way)) return fail(no_way->why, no_way->code);
  Joined& joined = std::get<Joined>(way);
  Monitor monitor(std::move(joined.link), {});
  const Clock::time_point start = Clock::now();
  const auto settled = [&] { return monitor.link_status().state != link::LinkState::kWaiting; };
  if (!work_until(monitor, start, settled) || monitor.link_status().state != link::LinkState::kLive) {
    const std::string detail = monitor.link_status().detail;
    return fail(detail.empty() ? "nobody answers at " + joined.endpoint : detail, 1);
  }
  const auto missing_rank = [&] { return missing(monitor.observer().timeline(), options.command.ranks); };
  if (!work_until(monitor, start, [&] { return !missing_rank(); }))
    return fail(fmt::format("rank {} has not joined the session", *missing_rank()), 1);
  const auto sent = monitor.send(options.command, Clock::now() - start);
  if (!sent) return fail(sent.error().message, 1);
  if (!work_until(monitor, start, [&] { return answer(monitor, *sent) != nullptr; }))
    return fail("the command was sent, but not answered within 5 s", 1);
  const timeline::CommandRecord& record = *answer(monitor, *sent);
  return record.accepted ? 0 : fail("refused: " + record.reason, 1);
}

}  // namespace idlewave::cli
