#include "tests/analysis/message_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using wire::EventKind;
using wire::Phase;
using Call = MessageProgram::Call;

wire::CallPartners call_with(wire::CallPartners::Kind kind, wire::Rank peer) {
  if (peer == MessageProgram::kNobody) return {.kind = wire::CallPartners::Kind::kNobody};
  return {.kind = kind, .first = peer};
}

/// One rank on its way.
struct OnItsWay {
  bool is_before = false;  // its first step
  std::size_t step = 0, call = 0, worked = 0, met = 0;
  wire::Nanoseconds now{};
  wire::CallPartners with;  // its latest call
};

class Player {
 public:
  explicit Player(const MessageProgram& program) : program_(program), at_(program.calls.size()) {
    run_.events.resize(at_.size()), run_.waited.resize(at_.size()), run_.ends.resize(at_.size());
    run_.waited_for.resize(at_.size());
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
    for (std::size_t rank = 0; rank < at_.size(); ++rank) {
      if (program_.calls_say_partners) switch_to(rank, Phase::kCompute);
      tell(rank, EventKind::kStop, 0, Phase::kNone);
    }
    return std::move(run_);
  }

 private:
  void tell(std::size_t rank, EventKind kind, std::uint64_t value, Phase phase) {
    run_.events[rank].push_back({at_[rank].now, value, kind, phase});
  }
  void switch_to(std::size_t rank, Phase phase) {
    tell(rank, EventKind::kSwitch, program_.calls_say_partners ? at_[rank].with.value() : 0, phase);
  }

  /// For what went out, or came, at `post`; until `end`.
  void wait(std::size_t rank, wire::Nanoseconds post, wire::Nanoseconds end, wire::Nanoseconds& waited_for) {
    wire::Nanoseconds& now = at_[rank].now;
    waited_for += std::max(post - now, wire::Nanoseconds{0});
    switch_to(rank, Phase::kWait);
    const wire::Nanoseconds waits = std::max(end - now, wire::Nanoseconds{0}) + MessageProgram::kSending;
    run_.waited[rank] += waits;
    now += waits;
  }

  bool receive(std::size_t rank, wire::Rank from) {
    auto& messages = sent_[{from, wire::Rank(rank)}];
    if (from == MessageProgram::kNobody) messages.push_back(at_[rank].now - MessageProgram::kFlight);
    if (messages.empty()) return false;
    wait(rank, messages.front(), messages.front() + MessageProgram::kFlight, run_.waited_for[rank].senders);
    messages.pop_front();
    at_[rank].with = call_with(wire::CallPartners::Kind::kFrom, from);
    return true;
  }

  bool receive_all(std::size_t rank, const std::vector<wire::Rank>& peers) {
    const auto messages = [&](wire::Rank from) -> auto& { return sent_[{from, wire::Rank(rank)}]; };
    wire::CallPartners with{.kind = wire::CallPartners::Kind::kFromSeveral};
    wire::Nanoseconds last{};
    for (const wire::Rank from : peers) {
      if (messages(from).empty()) return false;
      last = std::max(last, messages(from).front());
      with.senders |= std::uint64_t{1} << (from - wire::Rank(rank) + wire::CallPartners::kReach);
    }
    for (const wire::Rank from : peers) messages(from).pop_front();
    wait(rank, last, last + MessageProgram::kFlight, run_.waited_for[rank].senders);
    at_[rank].with = with;
    return true;
  }

  bool meet(std::size_t rank) {
    OnItsWay& mine = at_[rank];
    if (meetings_.size() == mine.met) meetings_.emplace_back();
    std::map<std::size_t, wire::Nanoseconds>& came = meetings_[mine.met];
    came.emplace(rank, mine.now);
    if (came.size() < at_.size()) return false;
    ++mine.met;
    const auto last = std::ranges::max_element(came, {}, [](const auto& each) { return each.second; });
    wait(rank, last->second, last->second, run_.waited_for[rank].meetings);
    mine.with = {.kind = wire::CallPartners::Kind::kAll};
    return true;
  }

  /// False: its message is not sent yet, somebody has not come yet, or it has done all.
  bool advance(std::size_t rank) {
    OnItsWay& mine = at_[rank];
    const auto& calls = mine.is_before ? program_.before[rank] : program_.calls[rank];
    if (mine.step == program_.work[rank].size()) return false;
    const Call& call = calls[mine.call];
    switch (call.kind) {
      case Call::Kind::kWork:
        switch_to(rank, Phase::kCompute);
        mine.now += program_.work[rank][mine.step][mine.worked++];
        break;
      case Call::Kind::kSend:
        switch_to(rank, Phase::kWait);
        sent_[{wire::Rank(rank), call.peer}].push_back(mine.now);
        mine.now += MessageProgram::kSending;
        mine.with = call_with(wire::CallPartners::Kind::kSent, call.peer);
        break;
      case Call::Kind::kReceive:
        if (!receive(rank, call.peer)) return false;
        break;
      case Call::Kind::kReceiveAll:
        if (!receive_all(rank, call.peers)) return false;
        break;
      case Call::Kind::kMeet:
        if (!meet(rank)) return false;
        break;
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
  std::deque<std::map<std::size_t, wire::Nanoseconds>> meetings_;  ///< When who came.
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
    bool receives = true, is_open = false;
    for (const Call& call : calls[std::size_t(rank)]) {
      if (call.kind == Call::Kind::kWork) continue;
      if (call.kind == Call::Kind::kMeet) {
        step.push_back(std::uint32_t(roster.patterns.size()));
        roster.patterns.push_back({.collective = true});
        is_open = false;
        continue;
      }
      const bool sends = call.kind == Call::Kind::kSend;
      if (!std::exchange(is_open, true) || (sends && receives)) {
        step.push_back(std::uint32_t(roster.patterns.size()));
        roster.patterns.push_back({});
      }
      auto& peers = sends ? roster.patterns.back().to : roster.patterns.back().from;
      for (const Rank peer : call.peers) peers.push_back(peer - rank);
      if (call.peers.empty() && call.peer != kNobody) peers.push_back(call.peer - rank);
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
