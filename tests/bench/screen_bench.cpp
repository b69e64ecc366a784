// iw-bench-screen: one whole screen of 200x60 from 10,000 ranks after 100 million events, timeline to cells; and the
// bytes that bring a screen to a terminal without bce (as tmux): all of it, and one new column. Prints JSON.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <clocale>
#include <vector>

#include "monitor/term/ncurses_screen.h"
#include "monitor/term/terminfo.h"
#include "monitor/view/screen/screen.h"

namespace {

using namespace idlewave;
using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;
using wire::Rank;

constexpr Rank kRanks = 10'000;
constexpr int kSteps = 3'334;  // three events each: 100 million in all
constexpr Nanoseconds kStep = std::chrono::milliseconds(10);
constexpr view::paint::Size kSize{200, 60};
constexpr int kRounds = 24;
constexpr int kStepsAtOnce = 50;

double processor_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
}

void live(Rank rank, int first, int last, std::vector<Event>& events) {
  events.clear();
  for (int step = first; step < last; ++step) {
    const Nanoseconds begin = step * kStep + Nanoseconds((std::int64_t(rank) * 7919 + step * 104729) % 1'000'000);
    events.push_back({begin, std::uint64_t(step), EventKind::kStep, Phase::kWait});
    events.push_back({begin, 0, EventKind::kSwitch, Phase::kCompute});
    events.push_back({begin + kStep * (50 + rank % 40) / 100, 0, EventKind::kSwitch, Phase::kWait});
  }
}

void run_on(timeline::Timeline& timeline, int first, int last) {
  std::vector<Event> events;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    live(rank, first, last, events);
    timeline.append("node", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("node", last * kStep);
}

void fill(timeline::Timeline& timeline) {
  wire::Roster roster;
  roster.world_size = kRanks;
  for (wire::DomainId domain = 0; domain < kRanks / 10; ++domain)
    roster.domains.push_back(
        {domain, fmt::format("socket {}", domain), 1e10, 5e10, wire::BandwidthSource::kDeclared, ""});
  for (Rank rank = 0; rank < kRanks; ++rank) roster.ranks.push_back({rank, 1, rank / 10});
  timeline.apply_roster("node", roster);
  for (int first = 0; first < kSteps; first += kStepsAtOnce)
    run_on(timeline, first, std::min(kSteps, first + kStepsAtOnce));
}

/// What is found a few times a second beside the picture.
struct Follower {
  analysis::domains::DomainStates states;
  analysis::waves::WaveWatch waves;

  analysis::session::Findings refresh(const timeline::Timeline& timeline) {
    states.follow(timeline);
    return analysis::session::analyse(timeline, {timeline.now() - std::chrono::seconds(1), timeline.now()}, states,
                                      waves.look(timeline));
  }
};

/// Of a quarter of a second that is new each time.
double refresh_ms(timeline::Timeline& timeline, Follower& follower) {
  constexpr int kNew = 25;
  std::vector<double> times;
  for (int first = kSteps; first < kSteps + 8 * kNew; first += kNew) {
    run_on(timeline, first, first + kNew);
    const double begin = processor_ms();
    (void)follower.refresh(timeline);
    times.push_back(processor_ms() - begin);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Milliseconds.
struct CausesCost {
  double learning = 0;          ///< Who waits for whom, in all.
  double longest_learning = 0;  ///< Of the looks that this takes.
  double worst = 0;             ///< Of all refreshes.
};

/// Until the window has been gone through.
CausesCost measure_causes(const timeline::Timeline& timeline, analysis::session::Findings& findings) {
  analysis::causes::CauseFinder finder(timeline);
  CausesCost cost;
  do {
    const double begin = processor_ms();
    finder.follow();
    const double took = processor_ms() - begin;
    cost.learning += took;
    cost.longest_learning = std::max(cost.longest_learning, took);
  } while (finder.is_learning());
  while (findings.causes.ranks.empty()) {
    const double begin = processor_ms();
    findings.causes = finder.observe(findings.window);
    cost.worst = std::max(cost.worst, processor_ms() - begin);
  }
  return cost;
}

/// Milliseconds, of what is looked at 5 s before the end.
struct GhostCost {
  double at_once = 0;       ///< In one look.
  double longest_look = 0;  ///< Of those of a screen, which must not stop.
};

GhostCost measure_ghost(const timeline::Timeline& timeline) {
  const analysis::Window window{timeline.now() - std::chrono::seconds(5), timeline.now()};
  GhostCost cost;
  analysis::program::GhostFinder at_once(timeline), in_pieces(timeline);
  const double begin = processor_ms();
  at_once.observe(window);
  cost.at_once = processor_ms() - begin;
  const analysis::LookBudget piece(analysis::LookBudget::kAtOnce);
  const auto take = [&](auto look) {
    const double before = processor_ms();
    look();
    cost.longest_look = std::max(cost.longest_look, processor_ms() - before);
  };
  take([&] { in_pieces.observe(window, piece); });
  while (in_pieces.is_learning()) take([&] { in_pieces.learn(piece); });
  take([&] { in_pieces.observe(window, piece); });
  return cost;
}

}  // namespace

int main() {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  timeline::Timeline timeline;
  fill(timeline);
  Follower follower;
  const double look_begin = processor_ms();
  analysis::session::Findings findings = follower.refresh(timeline);
  const double first_look = processor_ms() - look_begin;
  // Before the session goes on: what is learnt of the program later says nothing of this window.
  const CausesCost causes = measure_causes(timeline, findings);
  const GhostCost ghost = measure_ghost(timeline);
  const double refresh = refresh_ms(timeline, follower);
  view::SessionInfo session;
  session.name = "bench";
  session.link = view::LinkCondition::kLive;
  const view::Model model{timeline, findings, {}, session};
  const view::Look look{};
  std::vector<double> times;
  view::State state;
  for (int round = 0; round < kRounds; ++round) {
    state.zoom = 14 + round % 4;  // columns of 17 to 134 ms: from the newest seconds to nearly all of the 33 s
    const double begin = processor_ms();
    const view::paint::Canvas canvas = view::screen::draw(state, model, kSize, look);
    times.push_back(processor_ms() - begin);
  }
  std::sort(times.begin(), times.end());

  const auto terminal = term::read_terminfo("tmux-256color");
  if (!terminal) return 1;
  term::NcursesScreen screen(*terminal, look, kSize);
  const view::paint::Canvas whole = view::screen::draw(state, model, kSize, look);
  const std::size_t all = screen.draw(whole).size();
  view::paint::Canvas next = whole;
  for (int y = 2; y < kSize.rows - 8; ++y) {
    view::paint::Cell cell = next.at(100, y);
    cell.fg = cell.fg == view::paint::Ink::kWait3 ? view::paint::Ink::kWait5 : view::paint::Ink::kWait3;
    next.put(100, y, cell);
  }
  const std::size_t column = screen.draw(next).size();
  fmt::print(
      "{{\"screen_ms\": {:.2f}, \"screen_worst_ms\": {:.2f}, \"screen_bytes\": {}, \"screen_column_bytes\": {}, "
      "\"screen_events\": {}, \"screen_memory_mb\": {:.0f}, \"screen_refresh_ms\": {:.1f}, "
      "\"screen_first_refresh_ms\": {:.0f}, \"causes_learn_ms\": {:.1f}, "
      "\"causes_learn_longest_look_ms\": {:.1f}, \"causes_refresh_ms\": {:.1f}, "
      "\"ghost_at_once_ms\": {:.1f}, \"ghost_longest_look_ms\": {:.1f}}}\n",
      times[times.size() / 2], times.back(), all, column, timeline.events(), double(timeline.bytes_used()) / (1 << 20),
      refresh, first_look, causes.learning, causes.longest_learning, causes.worst, ghost.at_once, ghost.longest_look);
  return 0;
}
