#include "monitor/analysis/session/missing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "monitor/analysis/plural.h"

namespace idlewave::analysis::session {
namespace {

using timeline::Lane;
using timeline::LaneState;
using timeline::Loss;
using timeline::LossKind;
using timeline::Timeline;

constexpr std::size_t kMostOfAKind = 1000;
constexpr std::size_t kMostInWords = 3;
/// A node whose news are so much older than those of another is silent. Nodes that keep up differ by a frame or two.
constexpr Nanoseconds kSilence = std::chrono::seconds(2);

std::string moment(Nanoseconds at) { return fmt::format("{:.2f} s", double(at.count()) * 1e-9); }

template <class T>
void add(std::vector<T>& list, T item, std::uint64_t& more) {
  if (list.size() < kMostOfAKind)
    list.push_back(std::move(item));
  else
    ++more;
}

Nanoseconds farthest_told(std::span<const Timeline::NodeStatus> nodes) {
  Nanoseconds farthest = Nanoseconds::min();
  for (const auto& node : nodes)
    if (node.told) farthest = std::max(farthest, node.told_until);
  return farthest;
}

void find_nodes(const Timeline& timeline, Missing& missing) {
  const auto nodes = timeline.nodes();
  const Nanoseconds farthest = farthest_told(nodes);
  missing.nobody = std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node.ranks == 0; });
  for (const auto& node : nodes) {
    if (node.ended || node.ranks == 0) continue;
    const bool behind = node.told && farthest - node.told_until > kSilence;
    add(missing.nodes, Missing::Node{node.name, node.told_until, node.told, behind}, missing.more);
  }
}

std::optional<Missing::Why> why_missing(const Timeline& timeline, Rank rank) {
  const Lane* lane = timeline.lane(rank);
  if (lane == nullptr) return Missing::Why::kNeverAnnounced;
  if (lane->is_left_out()) return Missing::Why::kLeftOut;
  if (lane->state() == LaneState::kAnnounced) return Missing::Why::kNeverReported;
  if (timeline.was_left(rank)) return Missing::Why::kUnfinished;
  return std::nullopt;
}

void find_ranks(const Timeline& timeline, Missing& missing) {
  std::optional<Missing::Ranks> run;
  const auto finish = [&] {
    if (run) add(missing.ranks, *run, missing.more);
    run.reset();
  };
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const auto why = why_missing(timeline, rank);
    if (run && why != run->why) finish();
    if (!why) continue;
    if (!run) run = {rank, rank, *why};
    run->last = rank;
  }
  finish();
}

/// Whose ranks those are that never reported.
void find_unreported(const Timeline& timeline, Missing& missing) {
  const auto never_reported = [](const Missing::Ranks& ranks) { return ranks.why == Missing::Why::kNeverReported; };
  if (std::ranges::none_of(missing.ranks, never_reported)) return;
  for (const auto& node : timeline.nodes()) {
    const Rank announced = Rank(node.ranks), silent = announced - timeline.reporting(node.name);
    if (silent > 0 && missing.unreported.size() < kMostOfAKind)
      missing.unreported.push_back({node.name, silent, announced});
  }
}

void find_unseen(const Timeline& timeline, Missing& missing) {
  if (timeline.calls().unseen() == 0) return;
  for (const auto& [rank, calls] : timeline.calls().all())
    if (calls.unseen > 0) add(missing.unseen, Missing::Unseen{rank, calls.unseen}, missing.more);
}

/// Frames of nobody whom the session knows are missing to nobody.
bool is_known(std::span<const Timeline::NodeStatus> nodes, const std::string& name) {
  const auto found = std::lower_bound(nodes.begin(), nodes.end(), name,
                                      [](const auto& node, const std::string& n) { return node.name < n; });
  return found != nodes.end() && found->name == name;
}

/// As it is known now: what is found in a timeline does not change with it.
Loss found_now(const Loss& loss) {
  Loss found = loss;
  found.from = loss.from.session_time();
  found.to = loss.to.session_time();
  return found;
}

void find_holes(const Timeline& timeline, Missing& missing) {
  const auto nodes = timeline.nodes();
  for (const Loss& loss : timeline.losses()) {
    if (!timeline::is_hole(loss.kind) || (loss.kind == LossKind::kStranger && !is_known(nodes, loss.node))) continue;
    if (loss.kind != LossKind::kBeforeStart)
      add(missing.holes, found_now(loss), missing.more);
    else if (missing.late.size() < kMostOfAKind)
      missing.late.push_back(found_now(loss));
  }
  missing.more += timeline.holes_forgotten();
}

std::string ranks_text(const Missing::Ranks& ranks) {
  const bool one = ranks.first == ranks.last;
  return (one ? fmt::format("rank {} ", ranks.first) : fmt::format("ranks {}-{} ", ranks.first, ranks.last)) +
         to_words(ranks.why);
}

std::string unreported_text(const Missing::Unreported& node) {
  if (node.silent == node.of && node.of == 1) return fmt::format("{}: its rank never reported", node.node);
  return fmt::format("{}: {} of {} never reported", node.node, node.silent, plural(std::uint64_t(node.of), "rank"));
}

/// The latest one of all may have been silent, or nobody listened any more.
std::string node_text(const Missing::Node& node) {
  if (!node.told) return fmt::format("node {} silent since it announced itself", node.name);
  return fmt::format("node {} {} {}", node.name, node.behind ? "silent since" : "not heard after",
                     moment(node.heard_until));
}

std::string hole_text(const Loss& loss) {
  return to_words(loss) + (loss.from < loss.to ? fmt::format(" ({} to {})", moment(loss.from), moment(loss.to))
                                               : fmt::format(" ({})", moment(loss.from)));
}

}  // namespace

Missing find_missing(const Timeline& timeline) {
  Missing missing;
  find_nodes(timeline, missing);
  find_ranks(timeline, missing);
  find_unreported(timeline, missing);
  find_unseen(timeline, missing);
  find_holes(timeline, missing);
  return missing;
}

std::string to_words(Missing::Why why) {
  switch (why) {
    case Missing::Why::kNeverAnnounced: return "never announced";
    case Missing::Why::kNeverReported: return "never reported";
    case Missing::Why::kLeftOut: return "left out for want of memory";
    case Missing::Why::kUnfinished: return "not told to the end";
  }
  return {};
}

std::string to_words(const Loss& loss) {
  const std::string whose = loss.rank >= 0      ? fmt::format("rank {}", loss.rank)
                            : loss.node.empty() ? "the stream"
                                                : loss.node;
  switch (loss.kind) {
    case LossKind::kRingFull:
      return fmt::format("{} of {} dropped: its ring was full", plural(loss.count, "event"), whose);
    case LossKind::kSequenceGap: return fmt::format("{} from {} missing", plural(loss.count, "frame"), whose);
    case LossKind::kTurnedAway:
      return fmt::format("a stranger{} was turned away: {}",
                         loss.node.empty() ? "" : " that spoke for node " + loss.node, loss.detail);
    case LossKind::kBadFrame:
    case LossKind::kUnreadable:
      return fmt::format("{} from {} could not be read: {}", plural(loss.count, "frame"), whose, loss.detail);
    case LossKind::kTimeStep:
      return fmt::format("{} of {} left out: time went back", plural(loss.count, "event"), whose);
    case LossKind::kStranger:
      return fmt::format("{} of {} left out: nobody announced it", plural(loss.count, "event"), whose);
    case LossKind::kNoRoom:
      return fmt::format("{} of {} left out: --memory has room for {} ranks", plural(loss.count, "event"), whose,
                         loss.detail);
    case LossKind::kRankLost: return fmt::format("{} is lost: its process ended without saying so", whose);
    case LossKind::kNodeSilent:
      return fmt::format("node {} was silent{}{}", loss.node, loss.detail.empty() ? "" : ": ", loss.detail);
    case LossKind::kRankSilent: return fmt::format("{} from {} {}", plural(loss.count, "rank"), whose, loss.detail);
    case LossKind::kBeforeStart:
      return fmt::format("{} from {} came before we listened", plural(loss.count, "frame"), whose);
    case LossKind::kDetail: return fmt::format("{} of the recording damaged", plural(loss.count, "block"));
    case LossKind::kUnseenCalls: return to_words({Missing::Unseen{loss.rank, loss.count}});
    case LossKind::kNotClosed: return "the recording was not closed, so what came behind its last frame is not known";
  }
  return {};
}

std::string to_words(const Missing& missing) {
  if (missing.is_complete()) return {};
  std::vector<std::string> items;
  if (missing.nobody) items.push_back("no rank was announced");
  for (const auto& node : missing.nodes) items.push_back(node_text(node));
  for (const auto& node : missing.unreported) items.push_back(unreported_text(node));
  for (const auto& ranks : missing.ranks)
    if (ranks.why != Missing::Why::kNeverReported) items.push_back(ranks_text(ranks));
  if (!missing.unseen.empty()) items.push_back(to_words(missing.unseen));
  for (const auto& hole : missing.holes) items.push_back(hole_text(hole));
  for (const auto& loss : missing.late) items.push_back(hole_text(loss));
  const std::uint64_t untold = missing.more + (items.size() - std::min(items.size(), kMostInWords));
  items.resize(std::min(items.size(), kMostInWords));
  return fmt::format("{}{}", fmt::join(items, ", "), untold > 0 ? fmt::format(" and {} more", untold) : "");
}

std::string to_words(const std::vector<Missing::Unseen>& unseen) {
  if (unseen.empty()) return {};
  std::uint64_t calls = 0;
  for (const Missing::Unseen& rank : unseen) calls += rank.calls;
  const std::string whose =
      unseen.size() == 1 ? fmt::format("rank {}", unseen.front().rank) : plural(unseen.size(), "rank");
  return fmt::format("{} of other threads on {} not seen", plural(calls, "call"), whose);
}

std::vector<Loss> losses_of(const Missing& missing, Nanoseconds now) {
  std::vector<Loss> losses;
  for (const auto& node : missing.nodes)
    losses.push_back({LossKind::kNodeSilent, node.name, -1, node.heard_until, std::max(now, node.heard_until), 1,
                      "it did not say that it ends"});
  for (const auto& ranks : missing.ranks) {
    if (ranks.why == Missing::Why::kLeftOut) continue;  // They report, and what is left out is a loss of its own.
    losses.push_back({LossKind::kRankSilent,
                      {},
                      ranks.first,
                      {},
                      now,
                      std::uint64_t(ranks.last) - std::uint64_t(ranks.first) + 1,
                      to_words(ranks.why)});
  }
  for (const auto& unseen : missing.unseen)
    losses.push_back({LossKind::kUnseenCalls, {}, unseen.rank, {}, now, unseen.calls, {}});
  return losses;
}

}  // namespace idlewave::analysis::session
