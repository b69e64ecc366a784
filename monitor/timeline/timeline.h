#pragma once
// What happened, per rank and per domain, at several time resolutions, within a memory budget. Filled by ingest, read
// by analysis and view. Main thread only. No clock, no I/O.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "monitor/timeline/by_rank.h"
#include "monitor/timeline/call_log.h"
#include "monitor/timeline/command_log.h"
#include "monitor/timeline/delay_log.h"
#include "monitor/timeline/in_session.h"
#include "monitor/timeline/lane.h"
#include "monitor/timeline/live_edge.h"
#include "monitor/timeline/loss_log.h"
#include "monitor/timeline/own_delay.h"
#include "monitor/timeline/partner_log.h"
#include "monitor/timeline/records.h"
#include "monitor/timeline/sample_lane.h"
#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// Times given and returned are session time: a node's clock minus that node's offset (see set_clock), 0 when the
/// session began (see begin_at).
class Timeline {
 public:
  explicit Timeline(std::uint64_t memory_budget_bytes = 512u << 20);
  Timeline(Timeline&&) = default;
  Timeline& operator=(Timeline&&) = default;

  // --- filled by ingest ---
  /// Replaces what is known of a node. Ranks that were there keep their lanes. False (and no change) if it contradicts
  /// itself or another node: a rank outside world_size, twice, or of another node; an unknown domain; a phase that is
  /// none of the user's; more than wire::kMaxRanks; or if there is no room for what it declares. A rank moves to
  /// another node once the stream of its own has ended: the next program of a session may lie elsewhere.
  bool apply_roster(const std::string& node, const wire::Roster& roster);
  /// A rank of the roster that another node has, and that node; nothing: they don't contradict each other.
  std::optional<std::pair<Rank, std::string>> claimed_by_another(const std::string& node,
                                                                 const wire::Roster& roster) const;
  /// Whether what the roster declares fits into the memory budget, together with what was declared before. Ranks that
  /// the program is said to have count as if they were there: who analyses it has something for each.
  bool has_room_for(const std::string& node, const wire::Roster& roster) const;
  /// Makes `time` (that node's clock) session time 0, unless something was that already. Without it the first event
  /// appended is at 0. It costs nothing if the first event comes years later.
  void begin_at(const std::string& node, Nanoseconds time);
  /// Events of one lane, in order of time. What can't belong (a rank never announced by this node, times that go back)
  /// is left out and becomes a Loss.
  void append(const std::string& node, wire::LaneId lane, std::span<const wire::Event> events);
  /// The same of a meter, by its place in the node's roster.
  void append_meter(const std::string& node, std::int32_t place, std::span<const wire::Event> events);
  /// The same of a thread. What it tells of steps, delays and partners is the rank's to tell, and passed over.
  void append(const std::string& node, wire::ThreadId thread, std::span<const wire::Event> events);
  /// What a frame told of a lane.
  struct LaneEvents {
    wire::LaneId lane;
    std::span<const wire::Event> events;
  };
  /// The same of a frame, but what is nothing but steps and phases of a rank is put off: with more of that rank its history
  /// is fetched from memory once for all of it, and what will have been forgotten by then is not made. Events are borrowed
  /// until they are appended, and until all are nobody reads, nor tells anything else of ranks. What the budget forgets may
  /// then end a block of events earlier or later for some ranks.
  void put_off(const std::string& node, std::span<const LaneEvents> batches);
  /// What is put off are the batches [from, until), numbered as they were put off.
  ByRank::Number put_off_from() const { return put_off_.first(); }
  ByRank::Number put_off_until() const { return put_off_.next(); }
  void append_put_off(ByRank::Number end);  ///< Those before `end`.
  void give_back_room() { put_off_ = {}; }  ///< Of what was put off, when nothing is.
  void advance(const std::string& node,
               Nanoseconds up_to);  ///< Node's clock. No event of that node will come with a smaller time.
  /// Something of this node is missing from `from` (its clock) on: each of its lanes has no data from there to its next
  /// event.
  void interrupt(const std::string& node, Nanoseconds from);
  void add_loss(Loss loss);  ///< A run of losses of one kind and place becomes one.
  void add_command(const wire::Command& command,
                   Nanoseconds at);  ///< One that this monitor sent, at session time `at`.
  void add_outcome(const std::string& node, const wire::Outcome& outcome);
  /// Sums of a rank's MPI calls; left out if this node has not announced the rank.
  void set_calls(const std::string& node, wire::RankCalls calls);
  void mark_ended(const std::string& node);  ///< Its stream is complete.
  /// How far this node's clock is ahead of the session's, over the session; nothing unless set. Holds for what has been
  /// appended as well. Costs the same however much that is. A curve that can't be is passed over.
  void set_clock(const std::string& node, ClockCurve curve);
  void set_clock_offset(const std::string& node, Nanoseconds offset) { set_clock(node, {{{{}, offset}}, {}}); }
  /// A moment on a node's clock, to be kept; session time 0 for a node without a roster, and before the first event.
  Moment moment(const std::string& node, Nanoseconds time);
  /// Session time of a moment on a node's clock; 0 for a node without a roster, and before the first event.
  Nanoseconds session_time(const std::string& node, Nanoseconds time) const;

  // --- read by all ---
  bool empty() const { return events_ == 0; }  ///< No event yet.
  /// Live edge: every node that keeps up (to 2 s) has told everything before this.
  Nanoseconds now() const;
  /// The earliest event: later than 0 where nobody listened when the session began. Before the first one now().
  Nanoseconds begin() const;
  /// Of the ranks that a node has announced, how many have told something. O(its ranks).
  Rank reporting(const std::string& node) const;
  /// By how much the times of two ranks may be off from each other: nothing is known of their order below that. 0 on one
  /// node; nothing: not known.
  std::optional<Nanoseconds> clock_error(Rank a, Rank b) const;
  /// Both announced, by the same.
  bool are_on_one_node(Rank a, Rank b) const {
    return lane(a) != nullptr && lane(b) != nullptr && places_[std::size_t(a)].node == places_[std::size_t(b)].node;
  }
  /// Every node's stream is over. Whether it was whole: analysis/session/missing.h.
  bool ended() const;

  /// What a node's stream has come to.
  struct NodeStatus {
    std::string name;
    std::size_t ranks = 0;     ///< Announced.
    bool ended = false;        ///< Its End has come.
    bool told = false;         ///< Something has been told of some time.
    Nanoseconds told_until{};  ///< Everything before this; valid if `told`.
    bool simulated = false;    ///< All of those have one clock.
    /// How far its clock was ahead of the session's then, how far off that may be (nothing: not known), and by how much a
    /// second it gained.
    Nanoseconds clock_offset{};
    std::optional<Nanoseconds> clock_error{};
    double clock_drift = 0;
  };
  /// Those that announced themselves, by name; numbers in names by what they count, n9 before n10.
  std::vector<NodeStatus> nodes() const;

  Rank ranks() const { return world_size_; }  ///< world_size announced.
  const Lane* lane(Rank rank) const;          ///< Null for a rank that has not been announced by its node.
  const std::vector<Domain>& domains() const { return domains_; }
  /// Their indices, by the first of their ranks, as ranks stand on the map: nodes announce domains in any order.
  std::vector<int> domains_by_rank() const;
  /// "socket 0"; where there are several nodes "n2 socket 0".
  std::string name_of_domain(int domain) const;
  /// Threads of a rank that have told something, beside the one that its lane tells of; they are numbered from 1.
  int threads(Rank rank) const;
  bool has_threads() const { return !threads_.empty(); }  ///< Of some rank.
  const Lane* lane(wire::ThreadId thread) const;          ///< Null for one that has told nothing.
  /// Bandwidth of a domain, oldest first.
  InSession<std::vector<Sample>> samples(int domain) const;
  /// Of all domains, in the order in which they were announced.
  const std::vector<Meter>& meters() const { return meters_; }
  /// Of a meter, by its place in meters(); oldest first.
  InSession<std::vector<Sample>> meter_samples(int meter) const;
  CountedEver meter_ever(int meter) const { return meter_lanes_[std::size_t(meter)].ever; }
  int domain_of(Rank rank) const;  ///< Dense index into domains(); -1: not known.
  /// It runs, as far as was told, and its node will tell no more: its agent was made to end. A simulation may end at
  /// any time.
  bool was_left(Rank rank) const;
  std::string phase_name(wire::Phase phase) const;
  const std::string& program() const { return program_; }
  const std::string& machine() const { return machine_; }
  /// Who says where steps begin, and for how many ranks; not of those of which nobody has told.
  const std::map<wire::StepSource, Rank>& step_sources() const { return step_sources_; }

  /// Whom a rank says that it waits for, as it said last; nothing: it does not say.
  std::optional<DeclaredWaits> declared_waits(Rank rank) const;
  /// The same of one step: as it said last up to there; before it said anything, as it said first. Nothing also where that
  /// is forgotten.
  std::optional<DeclaredWaits> declared_waits(Rank rank, wire::Step step) const;
  /// Of all steps of the run, the share of which it is known whom the rank said that it waits for.
  double declared_share(Rank rank) const;
  /// From which on some rank says other things than before, ascending: the latest, as far as there is room for them.
  std::vector<wire::Step> partner_changes() const { return partners_.steps(); }
  /// Of some rank it is forgotten whom it waited for before that step, as it has said other things too often; nothing: of none.
  std::optional<wire::Step> partners_forgotten_before() const;

  const std::deque<Loss>& losses() const { return losses_.all(); }
  std::uint64_t holes_forgotten() const { return losses_.holes_forgotten(); }  ///< That are not in losses() any more.
  const std::deque<Delay>& delays() const { return delays_.all(); }
  const std::deque<CommandRecord>& commands() const { return commands_.all(); }
  const CallLog& calls() const { return calls_; }

  /// Where events of some rank were forgotten for want of room: from when on all are kept of each. O(ranks).
  std::optional<Nanoseconds> forgotten_until() const;
  std::uint64_t events() const { return events_; }  ///< Received in all, also those whose detail is gone.
  /// Sum of the events counted in losses (ring, time step, stranger), with the frames of gaps as at least 1 each.
  std::uint64_t dropped() const { return losses_.dropped(); }
  std::uint64_t phases_summed() const { return phases_summed_; }   ///< Told as sums, of all ranks; see Lane::summed.
  wire::Step latest_step() const { return steps_known().latest; }  ///< Largest step that any rank has begun.
  wire::Step first_step() const { return steps_known().first; }    ///< Smallest one, also where it is not kept.
  std::uint64_t budget() const { return budget_; }
  std::uint64_t bytes_used() const;  ///< At most the budget, plus what the announced ranks need at least.

  /// Shares of time in each category for a picture: `rows` are ranges of ranks, `columns` equal slices of [from, to).
  /// out[row * columns + column]. Costs in proportion to ranks covered times columns, whatever the number of events.
  /// Resolution: a slice is exact to the bucket of the level used, which is at most one slice wide.
  using RankRange = wire::RankRange;
  void picture(std::span<const RankRange> rows, Nanoseconds from, Nanoseconds to, int columns,
               std::span<Shares> out) const;
  /// The same with a row for each thread.
  void picture(std::span<const wire::ThreadId> rows, Nanoseconds from, Nanoseconds to, int columns,
               std::span<Shares> out) const;

 private:
  struct Node {
    NodeClock clock;
    ClockCurve curve;
    Nanoseconds first = Nanoseconds::max();  ///< Lane time of its earliest event; max() before that.
    bool ended = false;
    bool simulated = false;
    std::optional<LiveEdge::Place> edge;
    std::vector<Rank> ranks;   ///< Whose lanes it fills, in the order in which they were announced.
    std::vector<int> domains;  ///< Its own, indices into domains_.
    std::vector<int> meters;   ///< Of its latest roster, in that order: indices into meters_.
    std::vector<wire::WaitPattern> patterns;
    std::vector<wire::WaitCycle> cycles;
  };
  /// Domain, name, unit and source.
  using MeterKey = std::tuple<int, std::string, std::string, std::string>;
  struct RankPlace {
    Lane* lane = nullptr;
    Node* node = nullptr;
    std::int32_t domain = -1;
    PartnerLog::Followed follows;  ///< Of its node's cycles, from 1; 0: not said.
    DelayLog::Number open_delay = DelayLog::kNone;
    OwnDelay own_delay;
    wire::StepSource steps = wire::StepSource::kNotSaid;
  };

  void note_step_source(RankPlace& place, wire::StepSource source);
  NodeStatus status_of(const std::string& name, const Node& node) const;
  bool consistent(const std::string& node, const wire::Roster& roster) const;
  bool ranks_consistent(const std::string& node, const wire::Roster& roster) const;
  bool may_have(const Node* node, Rank rank) const;
  bool has_room_for(const Lane& lane) const;
  void add_no_room(const std::string& node, std::span<const wire::Event> events);
  void leave_out(const std::string& node, Lane& lane, std::span<const wire::Event> events);
  void apply_phases(Node& node, const wire::Roster& roster);
  void apply_partners(Node& node, const wire::Roster& roster);
  void forget_partners(Rank rank);
  void follow(RankPlace& place, Rank rank, std::uint64_t cycle);
  wire::Step step_of(const RankPlace& place) const;
  std::optional<DeclaredWaits> waits_of(const RankPlace& place, std::uint32_t cycle) const;
  static void take(const wire::DomainInfo& info, wire::DomainInfo& known);
  void apply_domains(const std::string& name, Node& node, const wire::Roster& roster);
  void apply_meters(const std::string& name, Node& node, const wire::Roster& roster);
  static MeterKey key_of(int domain, const wire::MeterInfo& info);
  int add_meter(Node& node, Meter meter);
  void let_go(std::vector<Node*> previous);
  void apply_ranks(const std::string& name, Node& node, const wire::Roster& roster);
  int domain_index(const std::string& node, wire::DomainId id) const;
  void share_out_budget();
  void set_base(Node& node);
  void note_edge(Node& node);  ///< After whatever moves it.
  void begin_at_first(const std::string& node, std::span<const wire::Event> events);

  void append_to_rank(const std::string& name, Node& node, Rank rank, std::span<const wire::Event> events);
  template <class Take>
  void append_to_lane(const std::string& name, Node& node, Rank rank, Lane& lane, std::span<const wire::Event> events,
                      Take take);
  Lane* thread_lane(Node& node, wire::ThreadId id);
  bool only_goes_on(const Node& node, const LaneEvents& told) const;
  bool is_told_in_order(const RankPlace& place, const wire::Event& event) const;
  void append_to_domain(const std::string& name, Node& node, wire::DomainId id, std::span<const wire::Event> events);
  void append_samples(const std::string& name, Node& node, SampleLane& lane, std::size_t most,
                      std::span<const wire::Event> events);
  bool take(const std::string& node, RankPlace& place, Rank rank, const wire::Event& event);
  void note_first(Node& node, Nanoseconds lane_time);
  void add_dropped(const std::string& node, Rank rank, const Lane& lane, const wire::Event& event);
  void take_note(const std::string& node, RankPlace& place, Rank rank, const wire::Event& event);
  struct StepRange {
    wire::Step first = wire::kNoStep, latest = wire::kNoStep;

    void add(wire::Step step) {
      latest = std::max(latest, step);
      first = first == wire::kNoStep ? step : std::min(first, step);
    }
  };
  void take_note_of_step(RankPlace& place, wire::Rank rank, wire::Step step);
  const StepRange& steps_known() const;
  void begin_hold(RankPlace& place, Rank rank, const wire::Event& event);
  void end_hold(RankPlace& place, const wire::Event& event);
  void settle(Lane& lane);
  void keep_budget();

  std::uint64_t budget_;
  LaneLimits limits_;
  SpareBlocks spare_blocks_;
  std::map<std::string, Node> nodes_;
  LiveEdge edge_;
  std::deque<Lane> lanes_;
  std::size_t lanes_with_events_ = 0;
  ByRank put_off_;
  std::vector<RankPlace> places_;               ///< By rank, as far as ranks were announced.
  std::map<Rank, std::vector<Lane*>> threads_;  ///< By number, less 1; null: has told nothing. Few ranks have any.
  std::deque<Lane*> block_order_;               ///< Whose block of events is the oldest, the next one and so on.
  std::vector<Domain> domains_;
  std::map<std::pair<std::string, wire::DomainId>, int> domain_index_;
  std::vector<SampleLane> domain_lanes_;  ///< By the same index.
  std::vector<Meter> meters_;
  std::map<MeterKey, int> meter_index_;
  std::vector<SampleLane> meter_lanes_;  ///< By the same index.
  std::array<std::string, wire::kPhaseLimit> phase_names_;
  std::string program_;
  std::string machine_;
  std::map<wire::StepSource, Rank> step_sources_;
  Rank program_rank_ = wire::kMaxRanks;  ///< Whose command line program_ is.
  Rank world_size_ = 0;
  bool has_origin_ = false;
  Nanoseconds origin_{};                      ///< Session time 0 on a clock without offset.
  mutable std::optional<Nanoseconds> begin_;  ///< begin(), if nothing has changed since.

  LossLog losses_;
  DelayLog delays_;
  CommandLog commands_;
  CallLog calls_;
  PartnerLog partners_;

  std::uint64_t events_ = 0;
  std::uint64_t phases_summed_ = 0;
  mutable StepRange steps_;
  mutable bool has_forgotten_steps_ = false;  ///< Which may have been the first or the latest.
  std::size_t lane_bytes_ = 0;
  std::size_t declared_bytes_ = 0;  ///< Of nodes, their gaps, domains, meters and patterns.
  std::size_t samples_ = 0;         ///< Of all domains and meters.
};

}  // namespace idlewave::timeline
