#include "tests/analysis/message_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using wire::EventKind;
using wire::Phase;
using Call = MessageProgram::Call;

/// One rank on its way.
struct OnItsWay {
  bool is_before = false;  // its first step
  std::size_t step = 0, call = 0, worked = 0;
  wire::Nanoseconds now{};
};

class Player {
 public:
  explicit Player(const MessageProgram& program) : program_(program), at_(program.calls.size()) {
    run_.events.resize(at_.size()), run_.waited.resize(at_.size()), run_.ends.resize(at_.size());
    for (std::size_t rank = 0; rank < at_.size(); ++rank) {
      tell(rank, EventKind::kStart, 0, Phase::kNone);
      at_[rank].is_before = !program.before.empty() && !program.before[rank].empty();
      if (!at_[rank].is_before) tell(rank, EventKind::kStep, 0, Phase::kNone);
    }
  }
  MessageProgram::Run play() {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t rank = 0; rank < at_.size(); ++rank)
        while (advance(rank)) goes_on = true;
    }
    for (std::size_t rank = 0; rank < at_.size(); ++rank) tell(rank, EventKind::kStop, 0, Phase::kNone);
    return std::move(run_);
  }

 private:
  void tell(std::size_t rank, EventKind kind, std::uint64_t value, Phase phase) {
    run_.events[rank].push_back({at_[rank].now, value, kind, phase});
  }

  /// False: its message is not sent yet, or it has done all.
  bool advance(std::size_t rank) {
    OnItsWay& mine = at_[rank];
    const auto& calls = mine.is_before ? program_.before[rank] : program_.calls[rank];
    if (mine.step == program_.work[rank].size()) return false;
    const Call& call = calls[mine.call];
    switch (call.kind) {
      case Call::Kind::kWork:
        tell(rank, EventKind::kSwitch, 0, Phase::kCompute);
        mine.now += program_.work[rank][mine.step][mine.worked++];
        break;
      case Call::Kind::kSend:
        tell(rank, EventKind::kSwitch, 0, Phase::kWait);
        sent_[{wire::Rank(rank), call.peer}].push_back(mine.now + MessageProgram::kFlight);
        mine.now += MessageProgram::kSending;
        break;
      case Call::Kind::kReceive: {
        auto& messages = sent_[{call.peer, wire::Rank(rank)}];
        if (call.peer == MessageProgram::kNobody) messages.push_back(mine.now);
        if (messages.empty()) return false;
        tell(rank, EventKind::kSwitch, 0, Phase::kWait);
        const wire::Nanoseconds waits =
            std::max(messages.front() - mine.now, wire::Nanoseconds{0}) + MessageProgram::kSending;
        messages.pop_front();
        run_.waited[rank] += waits;
        mine.now += waits;
        break;
      }
    }
    if (mine.is_before) {
      if (++mine.call < calls.size()) return true;
      mine.is_before = false, mine.call = 0;
      tell(rank, EventKind::kStep, 0, Phase::kWait);
      return true;
    }
    const auto is_call = [](const Call& each) { return each.kind != Call::Kind::kWork; };
    if (std::none_of(calls.begin() + std::ptrdiff_t(mine.call) + 1, calls.end(), is_call) && is_call(call)) {
      run_.ends[rank].push_back(mine.now);
      tell(rank, EventKind::kStep, mine.step + 1, Phase::kWait);
    }
    if (++mine.call == calls.size()) ++mine.step, mine.call = 0, mine.worked = 0;
    return true;
  }

  const MessageProgram& program_;
  std::vector<OnItsWay> at_;
  std::map<std::pair<wire::Rank, wire::Rank>, std::deque<wire::Nanoseconds>> sent_;
  MessageProgram::Run run_;
};

}  // namespace

MessageProgram::Run MessageProgram::run() const { return Player(*this).play(); }

wire::Roster MessageProgram::roster() const {
  wire::Roster roster;
  roster.world_size = ranks();
  for (Rank rank = 0; rank < ranks(); ++rank) {
    wire::WaitCycle cycle;
    auto& step = cycle.steps.emplace_back();
    bool receives = true;
    for (const Call& call : calls[std::size_t(rank)]) {
      if (call.kind == Call::Kind::kWork) continue;
      const bool sends = call.kind == Call::Kind::kSend;
      if (step.empty() || (sends && receives)) {
        step.push_back(std::uint32_t(roster.patterns.size()));
        roster.patterns.push_back({});
      }
      auto& peers = sends ? roster.patterns.back().to : roster.patterns.back().from;
      if (call.peer != kNobody) peers.push_back(call.peer - rank);
      receives = !sends;
    }
    roster.cycles.push_back(cycle);
    roster.ranks.push_back({rank, 1000 + rank, wire::kNoDomain, std::uint32_t(roster.cycles.size())});
  }
  return roster;
}

timeline::Timeline timeline_of(const MessageProgram& program, Partners partners, wire::Rank first) {
  timeline::Timeline timeline;
  wire::Roster roster = program.roster();
  if (partners == Partners::kNotSaid) {
    roster.patterns.clear(), roster.cycles.clear();
    for (auto& entry : roster.ranks) entry.cycle = 0;
  }
  if (partners == Partners::kSaidWithOpenSends)
    for (wire::WaitPattern& pattern : roster.patterns)
      pattern.uncertain =
          std::ranges::any_of(pattern.to, [&](wire::Rank to) { return !std::ranges::count(pattern.from, to); });
  std::erase_if(roster.ranks, [&](const wire::RankInfo& info) { return info.rank < first; });
  EXPECT_TRUE(timeline.apply_roster("n", std::move(roster)));
  const MessageProgram::Run run = program.run();
  wire::Nanoseconds latest{};
  for (wire::Rank rank = first; rank < program.ranks(); ++rank) {
    const auto& events = run.events[std::size_t(rank)];
    timeline.append("n", timeline::rank_lane(rank), events);
    latest = std::max(latest, events.back().time);
  }
  timeline.advance("n", latest);
  return timeline;
}

}  // namespace idlewave::analysis
