#include "monitor/analysis/causes/turns.h"

#include <algorithm>
#include <utility>

#include "monitor/analysis/steps/step_parts.h"

namespace idlewave::analysis::causes {
namespace {

bool is_call(wire::Phase phase) { return phase == wire::Phase::kWait || phase == wire::Phase::kCommunicate; }

}  // namespace

TurnReader::TurnReader(const timeline::Lane& lane, Window window, Nanoseconds from, Nanoseconds tolerance)
    : lane_(lane), window_(window), tolerance_(tolerance), next_step_(lane.steps_begun_before(from)) {}

const Turn* TurnReader::next() {
  while (ready_.empty() && !is_finished_) read_step();
  return ready_.empty() ? nullptr : &ready_.front();
}

void TurnReader::read_step() {
  const auto steps = lane_.steps();
  if (next_step_ >= steps.size()) return finish();
  const timeline::StepRecord record = steps[next_step_++];
  if (record.begin >= window_.to) return finish();
  if (record.begin != read_to_) {
    if (in_row_) end_row();
    turn_ = {.begin = record.begin, .joins = false};
    worked_ = {};
  }
  const bool is_over = record.end != Nanoseconds{0};
  read_to_ = is_over ? record.end : std::max(lane_.known_until(), record.begin);
  step_ = record.step;
  const bool counts = is_over && record.end > window_.from && record.end <= window_.to;
  said_.read(lane_, record.begin, read_to_);
  lane_.for_each_phase(record.begin, std::min(read_to_, window_.to),
                       [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
                         take(std::max(begin, record.begin), std::min(end, read_to_), phase, counts);
                       });
}

void TurnReader::take(Nanoseconds begin, Nanoseconds end, wire::Phase phase, bool counts) {
  if (!is_call(phase)) {
    worked_ += end - begin;
    if (in_row_ && worked_ > tolerance_) end_row();
    return;
  }
  if (!in_row_) begin_row(begin);
  note_partners(begin, end, phase);
  if (end > window_.to) return;
  worked_ = {};
  if (!counts) (turn_.waited > turn_.uncounted_before ? turn_.uncounted_behind : turn_.uncounted_before) += end - begin;
  turn_.waited += end - begin;
  turn_.end = end;
  turn_.step = step_;
  const bool is_of_all = turn_.with.kind == wire::CallPartners::Kind::kAll;
  if (phase == wire::Phase::kWait && (is_of_all || end - begin > steps::kShortWait)) emit();
}

void TurnReader::note_partners(Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
  using enum wire::CallPartners::Kind;
  const wire::CallPartners with = said_.of_call_until(end);
  if (with.kind == kSent || with.kind == kSentAndReceived) sent_.push_back({begin, with.first, emitted_});
  if (phase != wire::Phase::kWait) return;
  turn_.with = with;
  if (with.kind != kAll) return;
  if (std::exchange(met_in_, step_) != step_) meetings_ = 0;
  turn_.meeting = ++meetings_;
}

void TurnReader::forget_sent_before(std::uint64_t turn) {
  while (!sent_.empty() && sent_.front().turn < turn) sent_.pop_front();
}

void TurnReader::begin_row(Nanoseconds at) {
  in_row_ = true;
  turn_.row = turn_.posted_in == step_ ? turn_.row + 1 : 0;
  turn_.posted_in = step_;
  turn_.post = at;
  turn_.works = true;
}

void TurnReader::emit() {
  ready_.push_back(turn_);
  ++emitted_;
  turn_ = {.begin = turn_.end, .post = turn_.end, .posted_in = turn_.posted_in, .row = turn_.row, .works = false};
}

void TurnReader::end_row() {
  if (turn_.waited > Nanoseconds{0}) emit();
  in_row_ = false;
}

/// What goes on now has no end, but may have a post.
void TurnReader::finish() {
  is_finished_ = true;
  const bool waits = is_call(lane_.phase()) && lane_.last() < window_.to;
  if (!in_row_ && waits && lane_.state() == timeline::LaneState::kLive) begin_row(lane_.last());
  if (!in_row_) return;
  turn_.end = Nanoseconds::max();
  turn_.with = {};
  ready_.push_back(turn_);
}

}  // namespace idlewave::analysis::causes
