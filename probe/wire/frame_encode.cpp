#include "probe/wire/frame.h"

#include <algorithm>

#include "probe/wire/call_tables.h"
#include "probe/wire/frame_words.h"
#include "probe/wire/packed.h"
#include "probe/wire/partner_tables.h"
#include "probe/wire/round_trips.h"
#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

// Rank numbers as differences: a million ranks in a row take a megabyte, whatever they are called.
std::vector<std::byte> pack_ranks(std::span<const Rank> ranks) {
  std::vector<std::byte> out;
  std::int64_t previous = -1;
  for (const Rank rank : ranks) {
    append_varint(out, zigzag(static_cast<std::uint64_t>(rank - previous)));
    previous = rank;
  }
  return out;
}

// Three columns: ranks, processes, domains.
std::vector<std::byte> pack_rank_table(std::span<const RankInfo> ranks) {
  std::vector<std::byte> out;
  const auto column = [&](auto RankInfo::*field) {
    std::int64_t previous = -1;
    for (const RankInfo& info : ranks) {
      append_varint(out, zigzag(static_cast<std::uint64_t>(info.*field - previous)));
      previous = info.*field;
    }
  };
  column(&RankInfo::rank);
  column(&RankInfo::pid);
  column(&RankInfo::domain);
  return out;
}

/// A byte for each rank; empty if nothing is said of any.
std::vector<std::byte> pack_step_sources(std::span<const RankInfo> ranks) {
  std::vector<std::byte> out;
  if (std::ranges::all_of(ranks, [](const RankInfo& info) { return info.steps == StepSource::kNotSaid; })) return out;
  for (const RankInfo& info : ranks) out.push_back(static_cast<std::byte>(info.steps));
  return out;
}

/// Domains of a node mostly have one curve, which is said once.
void write(PackWriter& out, const DomainInfo& domain, const std::vector<double>& curve_before) {
  const bool says_curve = domain.curve != curve_before;
  out.map(6u + (says_curve ? 1 : 0) + (domain.calibrated ? 1 : 0));
  out.integer("id", domain.id);
  out.text("label", domain.label, kMaxName);
  out.number("core", domain.core_bandwidth);
  out.number("full", domain.saturated_bandwidth);
  out.integer("source", static_cast<int>(domain.source));
  out.text("note", domain.note, kMaxText);
  if (domain.calibrated) out.boolean("calibrated", true);
  if (says_curve) out.numbers("curve", std::span(domain.curve).first(std::min(domain.curve.size(), kMaxCurve)));
}

void write_domains(PackWriter& out, const std::vector<DomainInfo>& domains) {
  const std::vector<double> none;
  out.key("domains");
  out.array(static_cast<std::uint32_t>(domains.size()));
  for (std::size_t i = 0; i < domains.size(); ++i) write(out, domains[i], i == 0 ? none : domains[i - 1].curve);
}

void write(PackWriter& out, const PhaseInfo& phase) {
  out.map(3);
  out.integer("phase", static_cast<int>(phase.phase));
  out.integer("category", static_cast<int>(phase.category));
  out.text("name", phase.name, kMaxName);
}

void write(PackWriter& out, const MeterInfo& meter) {
  out.map(4);
  out.integer("domain", meter.domain);
  out.text("name", meter.name, kMaxName);
  out.text("unit", meter.unit, kMaxName);
  out.text("source", meter.source, kMaxName);
}

template <class T>
void write_array(PackWriter& out, std::string_view key, const std::vector<T>& items) {
  out.key(key);
  out.array(static_cast<std::uint32_t>(items.size()));
  for (const T& item : items) write(out, item);
}

/// Of a node of which no rank says whom it waits for, nothing.
void write_partners(PackWriter& out, const Roster& roster) {
  out.bytes("patterns", pack_patterns(roster.patterns));
  out.bytes("cycles", pack_cycles(roster.cycles));
  out.bytes("follows", pack_followed(roster.ranks));
}

void write(PackWriter& out, const LessonFigure& figure) {
  out.map(7);
  out.text("label", figure.label, kMaxName);
  out.text("before", figure.before, kMaxName);
  out.text("now", figure.now, kMaxName);
  out.text("theory", figure.theory, kMaxName);
  out.number("before_bar", figure.before_bar);
  out.number("now_bar", figure.now_bar);
  out.number("theory_bar", figure.theory_bar);
}

void write(PackWriter& out, const LessonPage& lesson) {
  out.map(8u + (lesson.asks ? 1u : 0u) + (lesson.figures.empty() ? 0u : 2u));
  out.unsigned_integer("number", lesson.number);
  out.integer("page", lesson.page);
  out.integer("pages", lesson.pages);
  out.text("title", lesson.title, kMaxName);
  out.text("text", lesson.text, kMaxText);
  out.text("now", lesson.now, kMaxText);
  out.text("figure", lesson.figure, kMaxText);
  out.text("source", lesson.source, kMaxText);
  if (lesson.asks) out.boolean("asks", true);
  if (lesson.figures.empty()) return;
  out.text("verdict", lesson.verdict, kMaxText);
  out.key("figures");
  const std::size_t figures = std::min(lesson.figures.size(), kMaxLessonFigures);
  out.array(static_cast<std::uint32_t>(figures));
  for (std::size_t i = 0; i < figures; ++i) write(out, lesson.figures[i]);
}

void write(PackWriter& out, const Roster& roster) {
  const bool says_partners = !roster.patterns.empty() || !roster.cycles.empty();
  const std::vector<std::byte> step_sources = pack_step_sources(roster.ranks);
  out.map(10u + (roster.began ? 1u : 0u) + (says_partners ? 3u : 0u) + (step_sources.empty() ? 0u : 1u) +
          (roster.meters.empty() ? 0u : 1u) + (roster.lesson ? 1u : 0u) + (roster.taken_over ? 2u : 0u));
  out.integer("world", roster.world_size);
  out.integer("agent", roster.agent_pid);
  out.integer("unix", roster.unix_time_ns);
  out.integer("time", roster.node_time.count());
  if (roster.began) out.integer("began", roster.began->count());
  out.text("machine", roster.machine, kMaxText);
  out.text("program", roster.program, kMaxText);
  out.unsigned_integer("count", roster.ranks.size());
  out.bytes("ranks", pack_rank_table(roster.ranks));
  write_domains(out, roster.domains);
  write_array(out, "phases", roster.phases);
  if (says_partners) write_partners(out, roster);
  if (!step_sources.empty()) out.bytes("steps", step_sources);
  if (!roster.meters.empty()) write_array(out, "meters", roster.meters);
  if (roster.taken_over) out.integer("agent_before", roster.taken_over->agent_pid);
  if (roster.taken_over) out.unsigned_integer("its_frames", roster.taken_over->last_frame);
  if (!roster.lesson) return;
  out.key("lesson");
  write(out, *roster.lesson);
}

void write(PackWriter& out, const Events& events) {
  const auto trips = std::span(events.round_trips).first(std::min(events.round_trips.size(), kMaxRoundTrips));
  const std::vector<std::byte> unseen = pack_unseen(events.calls);
  out.map(2u + (events.calls.empty() ? 0u : 1u) + (unseen.empty() ? 0u : 1u) + (trips.empty() ? 0u : 1u) +
          (events.threads.empty() ? 0u : 1u) + (events.meters.empty() ? 0u : 1u));
  out.integer("to", events.up_to.count());
  out.bytes("blob", events.blob);
  if (!events.calls.empty()) out.bytes("calls", pack_calls(events.calls));
  if (!unseen.empty()) out.bytes("unseen", unseen);
  if (!trips.empty()) out.bytes("clocks", pack_round_trips(trips));
  if (!events.threads.empty()) out.bytes("threads", events.threads);
  if (!events.meters.empty()) out.bytes("meters", events.meters);
}

void write(PackWriter& out, const DelayOrder& delay) {
  out.map(2);
  out.integer("duration", delay.duration.count());
  if (delay.in_steps > 0)
    out.integer("steps", delay.in_steps);
  else
    out.integer("step", delay.at_step);
}

std::vector<std::byte> pack_detours(const std::vector<Detour>& detours) {
  std::vector<std::byte> out;
  std::int64_t before = 0;
  for (const Detour& detour : detours) {
    append_varint(out, static_cast<std::uint64_t>(detour.start.count() - before));
    append_varint(out, static_cast<std::uint64_t>(detour.duration.count()));
    before = detour.start.count();
  }
  return out;
}

void write(PackWriter& out, const OrderedTrace& trace) {
  out.map(trace.detours.empty() ? 4 : 5);
  out.text("file", trace.file, kMaxName);
  out.integer("count", trace.count);
  out.integer("length", trace.length.count());
  out.integer("busy", trace.busy.count());
  if (!trace.detours.empty()) out.bytes("detours", pack_detours(trace.detours));
}

void write(PackWriter& out, const NoiseOrder& noise) {
  const bool has_trace = noise.trace != OrderedTrace{};
  out.map(std::uint32_t{3} + noise.ends_with_giver + has_trace);
  out.integer("kind", static_cast<int>(noise.kind));
  out.integer("amount", noise.amount.count());
  out.number("frequency", noise.frequency);
  if (noise.ends_with_giver) out.boolean("with_giver", true);
  if (!has_trace) return;
  out.key("trace");
  write(out, noise.trace);
}

void write(PackWriter& out, const ClearOrder& clear) {
  out.map(clear.noise_of != 0 ? 1 : 0);
  if (clear.noise_of != 0) out.integer("noise_of", clear.noise_of);
}

void write(PackWriter& out, const UnknownOrder& order) {
  out.map(1);
  out.text("name", order.name, kMaxName);
}

std::string_view name_of(const decltype(Command::order)& order) {
  const auto* delay = std::get_if<DelayOrder>(&order);
  return delay != nullptr && delay->in_steps > 0 ? kDelayInSteps : kOrders[order.index()];
}

void write(PackWriter& out, const Command& command) {
  out.map(3);
  out.integer("id", command.id);
  out.bytes("ranks", pack_ranks(command.ranks));
  out.key(name_of(command.order));
  std::visit([&](const auto& order) { write(out, order); }, command.order);
}

void write(PackWriter& out, const Outcome& outcome) {
  out.map(4);
  out.key("command");
  write(out, outcome.command);
  out.integer("time", outcome.time.count());
  out.boolean("accepted", outcome.accepted);
  out.text("reason", outcome.reason, kMaxText);
}

void write(PackWriter& out, const Attach& attach) {
  out.map(2);
  out.integer("role", static_cast<int>(attach.role));
  out.integer("credits", attach.credits);
}

void write(PackWriter& out, const Credit& credit) {
  const bool has_pace = credit.pace > Nanoseconds(0);
  out.map(1u + (credit.began ? 1u : 0u) + (credit.compares_clocks ? 1u : 0u) + (has_pace ? 1u : 0u));
  out.integer("frames", credit.frames);
  if (credit.began) out.integer("began", *credit.began);
  if (credit.compares_clocks) out.boolean("clocks", true);
  if (has_pace) out.integer("pace", credit.pace.count());
}

void write(PackWriter& out, const Refusal& refusal) {
  out.map(1);
  out.text("reason", refusal.reason, kMaxText);
}

void write(PackWriter& out, const Record& record) {
  out.map(1);
  out.text("path", record.path, kMaxText);
}

void write(PackWriter& out, const AskTime& ask) {
  out.map(1);
  out.integer("asked", ask.asked.count());
}

void write(PackWriter& out, const TellTime& tell) {
  out.map(4);
  out.integer("asked", tell.asked.count());
  out.integer("heard", tell.heard.count());
  out.integer("told", tell.told.count());
  out.integer("reference", tell.reference);
}

void write(PackWriter& out, const End&) { out.map(0); }
void write(PackWriter& out, const EndAck&) { out.map(0); }
void write(PackWriter& out, const Hello&) { out.map(0); }

}  // namespace

std::optional<Nanoseconds> beginning_of(const Roster& roster) {
  constexpr Nanoseconds kLongest{std::int64_t{1} << 58};
  const auto can_be = [=](Nanoseconds time) { return -kLongest < time && time < kLongest; };
  if (!roster.began || !can_be(*roster.began) || !can_be(roster.node_time)) return std::nullopt;
  const Nanoseconds ago = roster.node_time - *roster.began;
  return Nanoseconds(0) <= ago && ago < kLongest ? roster.began : std::nullopt;
}

std::optional<std::int64_t> wall_beginning_of(const Roster& roster) {
  const auto began = beginning_of(roster);
  if (!began || roster.unix_time_ns < 0) return std::nullopt;
  return roster.unix_time_ns - (roster.node_time - *began).count();
}

bool is_sequenced(const Frame& frame) {
  return std::holds_alternative<Events>(frame.body) || std::holds_alternative<Roster>(frame.body) ||
         std::holds_alternative<Outcome>(frame.body) || std::holds_alternative<End>(frame.body);
}

std::vector<std::byte> encode(const Frame& frame) {
  std::vector<std::byte> bytes;
  PackWriter out(bytes);
  out.map(6);
  out.integer("v", kWireVersion);
  out.text("k", kKinds[frame.body.index()], kMaxName);
  out.text("s", frame.session, kMaxName);
  out.text("n", frame.node, kMaxName);
  out.unsigned_integer("q", frame.sequence);
  out.key("b");
  std::visit([&](const auto& body) { write(out, body); }, frame.body);
  return bytes;
}

}  // namespace idlewave::wire
