#include "monitor/timeline/loss_log.h"

#include <algorithm>

namespace idlewave::timeline {
namespace {

constexpr std::size_t kLossesKept = 16384;
constexpr std::size_t kSearched = 16;  ///< Latest entries among which a run is looked for.
constexpr std::size_t kLongestText = 200;

bool counts_as_dropped(LossKind kind) {
  return kind == LossKind::kRingFull || kind == LossKind::kSequenceGap || kind == LossKind::kUnreadable ||
         kind == LossKind::kTimeStep || kind == LossKind::kStranger || kind == LossKind::kNoRoom;
}

/// Losses with an extent of their own stay apart unless they touch; the others are all alike.
bool has_extent(LossKind kind) {
  return kind == LossKind::kRingFull || kind == LossKind::kSequenceGap || kind == LossKind::kUnreadable ||
         kind == LossKind::kNodeSilent;
}

bool continues(const Loss& run, const Loss& loss) {
  if (run.kind != loss.kind || run.rank != loss.rank || run.node != loss.node || run.kind == LossKind::kRankLost)
    return false;
  return has_extent(run.kind) ? loss.from <= run.to : loss.detail == run.detail;
}

}  // namespace

void LossLog::add(Loss loss) {
  if (counts_as_dropped(loss.kind)) dropped_ += loss.count;
  if (Loss* run = run_of(loss)) {
    run->count += loss.count;
    run->from = std::min(run->from, loss.from);
    run->to = std::max(run->to, loss.to);
    return;
  }
  if (loss.detail.size() > kLongestText) loss.detail.resize(kLongestText);
  text_bytes_ += loss.detail.size() + loss.node.size();
  losses_.push_back(std::move(loss));
  if (losses_.size() <= kLossesKept) return;
  text_bytes_ -= losses_.front().detail.size() + losses_.front().node.size();
  if (is_hole(losses_.front().kind)) ++holes_forgotten_;
  losses_.pop_front();
}

Loss* LossLog::run_of(const Loss& loss) {
  const auto end = losses_.rbegin() + std::ptrdiff_t(std::min(kSearched, losses_.size()));
  const auto run = std::find_if(losses_.rbegin(), end, [&](const Loss& earlier) { return continues(earlier, loss); });
  return run == end ? nullptr : &*run;
}

}  // namespace idlewave::timeline
