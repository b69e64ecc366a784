#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "probe/wire/call_tables.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_words.h"
#include "probe/wire/packed.h"
#include "probe/wire/partner_tables.h"
#include "probe/wire/round_trips.h"
#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

using Value = msgpack::object;

/// A value that only a newer sender knows is kept as it is, and the message with it.
template <class Enum>
Enum take_enum(MapReader& in, std::string_view key) {
  return static_cast<Enum>(in.integer(key, 0, std::numeric_limits<std::underlying_type_t<Enum>>::max()));
}

std::vector<Rank> unpack_ranks(MapReader& in, std::string_view key) {
  ByteReader bytes(in.bytes(key, kMaxFrameBytes));
  std::vector<Rank> ranks;
  std::int64_t rank = -1;
  while (bytes.remaining() != 0 && ranks.size() <= static_cast<std::size_t>(kMaxRanks)) {
    rank = static_cast<std::int64_t>(static_cast<std::uint64_t>(rank) + unzigzag(bytes.varint()));
    if (!bytes.ok() || rank < 0 || rank >= kMaxRanks) return in.refuse(key, "holds an impossible rank"), ranks;
    ranks.push_back(static_cast<Rank>(rank));
  }
  if (bytes.remaining() != 0) in.refuse(key, "has too many ranks");
  return ranks;
}

std::vector<RankInfo> unpack_rank_table(MapReader& in) {
  const auto count = static_cast<std::size_t>(in.integer("count", 0, kMaxRanks));
  ByteReader bytes(in.bytes("ranks", kMaxFrameBytes));
  if (count > bytes.remaining() / 3) return in.refuse("ranks", "is too short"), std::vector<RankInfo>();
  std::vector<RankInfo> ranks(count);
  bool fits = true;
  const auto column = [&](auto RankInfo::*field, std::int64_t low) {
    std::uint64_t value = static_cast<std::uint64_t>(-1);
    for (RankInfo& info : ranks) {
      value += unzigzag(bytes.varint());
      const auto number = static_cast<std::int64_t>(value);
      fits = fits && number >= low && number <= kMaxInt32;
      info.*field = static_cast<std::int32_t>(number);
    }
  };
  column(&RankInfo::rank, 0);
  column(&RankInfo::pid, 0);
  column(&RankInfo::domain, kNoDomain);
  if (!fits || !bytes.ok() || bytes.remaining() != 0) in.refuse("ranks", "is damaged");
  return ranks;
}

DomainInfo read_domain(const Value& value, std::string& error) {
  MapReader in(value, "domain", error);
  DomainInfo domain;
  domain.id = static_cast<DomainId>(in.integer("id", 0, kMaxInt32));
  domain.label = in.text("label", kMaxName);
  domain.core_bandwidth = in.number("core", 0, kMaxBandwidth);
  domain.saturated_bandwidth = in.number("full", 0, kMaxBandwidth);
  domain.source = take_enum<BandwidthSource>(in, "source");
  domain.note = in.text("note", kMaxText);
  if (in.has("calibrated")) domain.calibrated = in.boolean("calibrated");
  return domain;
}

/// A domain that says no curve has that of the domain before. So few bytes may mean many points, in all no more than
/// there may be ranks.
void read_curves(MapReader& roster, std::vector<DomainInfo>& domains, std::string& error) {
  const auto values = roster.array("domains", kMaxDomains);
  std::size_t points = 0;
  for (std::size_t i = 0; i < domains.size() && roster.ok(); ++i) {
    MapReader in(values[i], "domain", error);
    if (in.has("curve"))
      domains[i].curve = in.numbers("curve", kMaxCurve, 0, kMaxBandwidth);
    else if (i > 0)
      domains[i].curve = domains[i - 1].curve;
    points += domains[i].curve.size();
    if (points > static_cast<std::size_t>(kMaxRanks)) roster.refuse("domains", "have too many points in their curves");
  }
}

PhaseInfo read_phase(const Value& value, std::string& error) {
  MapReader in(value, "phase", error);
  PhaseInfo phase;
  phase.phase = static_cast<Phase>(in.integer("phase", kFirstUserPhase, kPhaseLimit - 1));
  phase.category = take_enum<Phase>(in, "category");
  phase.name = in.text("name", kMaxName);
  return phase;
}

MeterInfo read_meter(const Value& value, std::string& error) {
  MapReader in(value, "meter", error);
  MeterInfo meter;
  meter.domain = static_cast<DomainId>(in.integer("domain", 0, kMaxInt32));
  meter.name = in.text("name", kMaxName);
  meter.unit = in.text("unit", kMaxName);
  meter.source = in.text("source", kMaxName);
  return meter;
}

template <class T>
std::vector<T> read_array(MapReader& in, std::string_view key, std::size_t limit, T (*read)(const Value&, std::string&),
                          std::string& error) {
  std::vector<T> items;
  for (const Value& value : in.array(key, limit)) {
    items.push_back(read(value, error));
    if (!in.ok()) break;
  }
  return items;
}

template <class T, class Field>
void require_ascending(MapReader& in, std::string_view key, const std::vector<T>& items, Field T::*field) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!(items[i - 1].*field < items[i].*field)) return in.refuse(key, "are not in ascending order");
  }
}

void read_partners(MapReader& in, Roster& roster) {
  if (!in.has("cycles")) return;
  const auto take = [&](std::string_view key, auto unpack, auto& into) {
    const std::span<const std::byte> bytes = in.bytes(key, kMaxFrameBytes);
    if (in.ok() && !unpack(bytes, into)) in.refuse(key, "is damaged");
  };
  take("patterns", unpack_patterns, roster.patterns);
  const auto cycles = [&](auto bytes, auto& into) { return unpack_cycles(bytes, roster.patterns.size(), into); };
  take("cycles", cycles, roster.cycles);
  const auto followed = [&](auto bytes, auto& into) { return unpack_followed(bytes, roster.cycles.size(), into); };
  take("follows", followed, roster.ranks);
}

void read_step_sources(MapReader& in, std::vector<RankInfo>& ranks) {
  if (!in.has("steps")) return;
  const std::span<const std::byte> bytes = in.bytes("steps", kMaxFrameBytes);
  if (in.ok() && bytes.size() != ranks.size()) return in.refuse("steps", "are not one for each rank");
  for (std::size_t i = 0; in.ok() && i < ranks.size(); ++i) ranks[i].steps = static_cast<StepSource>(bytes[i]);
}

LessonFigure read_figure(const Value& value, std::string& error) {
  MapReader in(value, "figure", error);
  LessonFigure figure;
  figure.label = in.text("label", kMaxName);
  figure.before = in.text("before", kMaxName);
  figure.now = in.text("now", kMaxName);
  figure.theory = in.text("theory", kMaxName);
  figure.before_bar = in.number("before_bar", 0, 1);
  figure.now_bar = in.number("now_bar", 0, 1);
  figure.theory_bar = in.number("theory_bar", 0, 1);
  return figure;
}

LessonPage read_lesson(const Value& value, std::string& error) {
  MapReader in(value, "lesson", error);
  LessonPage lesson;
  lesson.number = in.unsigned_integer("number");
  lesson.page = static_cast<std::int32_t>(in.integer("page", 1, kMaxInt32));
  lesson.pages = static_cast<std::int32_t>(in.integer("pages", lesson.page, kMaxInt32));
  lesson.title = in.text("title", kMaxName);
  lesson.text = in.text("text", kMaxText);
  lesson.now = in.text("now", kMaxText);
  lesson.figure = in.text("figure", kMaxText);
  lesson.source = in.text("source", kMaxText);
  if (in.has("asks")) lesson.asks = in.boolean("asks");
  if (!in.has("figures")) return lesson;
  lesson.verdict = in.text("verdict", kMaxText);
  lesson.figures = read_array(in, "figures", kMaxLessonFigures, read_figure, error);
  return lesson;
}

Roster read_roster(const Value& value, std::string& error) {
  MapReader in(value, "roster", error);
  Roster roster;
  roster.world_size = static_cast<Rank>(in.integer("world", 0, kMaxRanks));
  roster.agent_pid = static_cast<std::int32_t>(in.integer("agent", 0, kMaxInt32));
  roster.unix_time_ns = in.integer("unix", kMinTime, kMaxTime);
  roster.node_time = Nanoseconds(in.integer("time", kMinTime, kMaxTime));
  if (in.has("began")) roster.began = Nanoseconds(in.integer("began", kMinTime, kMaxTime));
  roster.machine = in.text("machine", kMaxText);
  roster.program = in.text("program", kMaxText);
  roster.ranks = unpack_rank_table(in);
  roster.domains = read_array(in, "domains", kMaxDomains, read_domain, error);
  if (in.ok()) read_curves(in, roster.domains, error);
  roster.phases = read_array(in, "phases", kPhaseLimit, read_phase, error);
  read_partners(in, roster);
  read_step_sources(in, roster.ranks);
  if (in.has("meters")) roster.meters = read_array(in, "meters", kMaxMeters, read_meter, error);
  if (in.has("agent_before"))
    roster.taken_over = {static_cast<std::int32_t>(in.integer("agent_before", 0, kMaxInt32)),
                         in.unsigned_integer("its_frames")};
  if (in.has("lesson")) roster.lesson = read_lesson(in.map("lesson"), error);
  require_ascending(in, "ranks", roster.ranks, &RankInfo::rank);
  require_ascending(in, "domains", roster.domains, &DomainInfo::id);
  require_ascending(in, "phases", roster.phases, &PhaseInfo::phase);
  if (!roster.ranks.empty() && roster.ranks.back().rank >= roster.world_size) in.refuse("ranks", "go beyond 'world'");
  return roster;
}

Events read_events(const Value& value, std::span<const std::byte>& blob, std::string& error) {
  MapReader in(value, "events", error);
  const Nanoseconds up_to(in.integer("to", kMinTime, kMaxTime));
  blob = in.bytes("blob", kMaxFrameBytes);
  Events events{up_to, {}, {}, {}};
  const auto take = [&](std::string_view key, auto unpack, auto& into) {
    if (!in.has(key)) return;
    const std::span<const std::byte> bytes = in.bytes(key, kMaxFrameBytes);
    if (in.ok() && !unpack(bytes, into)) in.refuse(key, "is damaged");
  };
  take("calls", unpack_calls, events.calls);
  take("unseen", unpack_unseen, events.calls);
  take("clocks", unpack_round_trips, events.round_trips);
  const auto keep = [&](std::string_view key, std::vector<std::byte>& into) {
    if (!in.has(key)) return;
    const std::span<const std::byte> bytes = in.bytes(key, kMaxFrameBytes);
    into.assign(bytes.begin(), bytes.end());
  };
  keep("threads", events.threads);
  keep("meters", events.meters);
  return events;
}

DelayOrder read_delay(const Value& value, std::string& error) {
  MapReader in(value, "delay", error);
  const Nanoseconds duration(in.integer("duration", 0, kMaxTime));
  return {duration, in.integer("step", kNoStep, kMaxTime)};
}

DelayOrder read_delay_in_steps(const Value& value, std::string& error) {
  MapReader in(value, kDelayInSteps, error);
  const Nanoseconds duration(in.integer("duration", 0, kMaxTime));
  return {duration, kNoStep, static_cast<std::int32_t>(in.integer("steps", 1, kMaxInt32))};
}

/// As many as `count` says. Times that a reader could not add up are refused; whether they make sense as noise is not
/// looked at here.
std::vector<Detour> unpack_detours(MapReader& in, std::uint32_t count) {
  ByteReader bytes(in.bytes("detours", kMaxFrameBytes));
  if (count > bytes.remaining() / 2) return in.refuse("detours", "are too few"), std::vector<Detour>();
  std::vector<Detour> detours(count);
  std::uint64_t start = 0;
  bool fits = true;
  for (Detour& detour : detours) {
    const std::uint64_t later = bytes.varint(), duration = bytes.varint();
    constexpr auto kLatest = static_cast<std::uint64_t>(kMaxTime);
    fits = fits && later <= kLatest - start && duration <= kLatest - start - later;
    if (!fits) break;
    start += later;
    detour = {Nanoseconds(static_cast<std::int64_t>(start)), Nanoseconds(static_cast<std::int64_t>(duration))};
  }
  if (!fits || !bytes.ok() || bytes.remaining() != 0) in.refuse("detours", "are damaged");
  return detours;
}

OrderedTrace read_trace(const Value& value, std::string& error) {
  MapReader in(value, "trace", error);
  OrderedTrace trace;
  trace.file = in.text("file", kMaxName);
  trace.count = static_cast<std::uint32_t>(in.integer("count", 0, kMaxDetours));
  trace.length = Nanoseconds(in.integer("length", 0, kMaxTime));
  trace.busy = Nanoseconds(in.integer("busy", 0, kMaxTime));
  if (in.has("detours")) trace.detours = unpack_detours(in, trace.count);
  return trace;
}

NoiseOrder read_noise(const Value& value, std::string& error) {
  MapReader in(value, "noise", error);
  NoiseOrder noise;
  noise.kind = take_enum<NoiseKind>(in, "kind");
  noise.amount = Nanoseconds(in.integer("amount", 0, kMaxTime));
  noise.frequency = in.number("frequency", 0, kMaxFrequency);
  if (in.has("with_giver")) noise.ends_with_giver = in.boolean("with_giver");
  if (in.has("trace")) noise.trace = read_trace(in.map("trace"), error);
  return noise;
}

ClearOrder read_clear(const Value& value, std::string& error) {
  MapReader in(value, "clear", error);
  if (!in.has("noise_of")) return {};
  return {static_cast<CommandId>(in.integer("noise_of", 1, std::numeric_limits<CommandId>::max()))};
}

UnknownOrder read_unknown(const Value& value, std::string& error) {
  return {MapReader(value, "unknown", error).text("name", kMaxName)};
}

decltype(Command::order) read_order(MapReader& in, std::string& error) {
  if (in.has("delay")) return read_delay(in.map("delay"), error);
  if (in.has(kDelayInSteps)) return read_delay_in_steps(in.map(kDelayInSteps), error);
  if (in.has("noise")) return read_noise(in.map("noise"), error);
  if (in.has("unknown")) return read_unknown(in.map("unknown"), error);
  if (in.has("clear")) return read_clear(in.map("clear"), error);
  const std::optional<std::string_view> name = in.key_of_a_map();
  if (!name) in.refuse("clear", "is missing, and there is no other order");
  return UnknownOrder{std::string(name.value_or("").substr(0, kMaxName))};
}

Command read_command(const Value& value, std::string& error) {
  MapReader in(value, "command", error);
  Command command;
  command.id = static_cast<CommandId>(in.integer("id", 0, std::numeric_limits<CommandId>::max()));
  command.ranks = unpack_ranks(in, "ranks");
  command.order = read_order(in, error);
  return command;
}

Outcome read_outcome(const Value& value, std::string& error) {
  MapReader in(value, "outcome", error);
  Outcome outcome;
  outcome.command = read_command(in.map("command"), error);
  outcome.time = Nanoseconds(in.integer("time", kMinTime, kMaxTime));
  outcome.accepted = in.boolean("accepted");
  outcome.reason = in.text("reason", kMaxText);
  return outcome;
}

Attach read_attach(const Value& value, std::string& error) {
  MapReader in(value, "attach", error);
  const auto role = take_enum<Role>(in, "role");
  return {role, static_cast<std::uint32_t>(in.integer("credits", 0, std::numeric_limits<std::uint32_t>::max()))};
}

Credit read_credit(const Value& value, std::string& error) {
  MapReader in(value, "credit", error);
  Credit credit{static_cast<std::uint32_t>(in.integer("frames", 0, std::numeric_limits<std::uint32_t>::max()))};
  if (in.has("began")) credit.began = in.integer("began", kMinTime, kMaxTime);
  if (in.has("clocks")) credit.compares_clocks = in.boolean("clocks");
  if (in.has("pace")) credit.pace = Nanoseconds(in.integer("pace", 0, kMaxTime));
  return credit;
}

AskTime read_ask(const Value& value, std::string& error) {
  return {Nanoseconds(MapReader(value, "asktime", error).integer("asked", kMinTime, kMaxTime))};
}

TellTime read_tell(const Value& value, std::string& error) {
  MapReader in(value, "telltime", error);
  TellTime tell;
  tell.asked = Nanoseconds(in.integer("asked", kMinTime, kMaxTime));
  tell.heard = Nanoseconds(in.integer("heard", kMinTime, kMaxTime));
  tell.told = Nanoseconds(in.integer("told", kMinTime, kMaxTime));
  tell.reference = static_cast<std::uint32_t>(in.integer("reference", 0, std::numeric_limits<std::uint32_t>::max()));
  return tell;
}

Refusal read_refusal(const Value& value, std::string& error) {
  return {MapReader(value, "refusal", error).text("reason", kMaxText)};
}

void read_body(FrameInPlace& read, std::string_view kind, const Value& value, std::string& error) {
  auto& body = read.frame.body;
  if (kind == "roster")
    body = read_roster(value, error);
  else if (kind == "events")
    body = read_events(value, read.blob, error);
  else if (kind == "outcome")
    body = read_outcome(value, error);
  else if (kind == "end")
    body = End{};
  else if (kind == "attach")
    body = read_attach(value, error);
  else if (kind == "credit")
    body = read_credit(value, error);
  else if (kind == "endack")
    body = EndAck{};
  else if (kind == "refusal")
    body = read_refusal(value, error);
  else if (kind == "hello")
    body = Hello{};
  else if (kind == "command")
    body = read_command(value, error);
  else if (kind == "record")
    body = Record{MapReader(value, "record", error).text("path", kMaxText)};
  else if (kind == "asktime")
    body = read_ask(value, error);
  else if (kind == "telltime")
    body = read_tell(value, error);
  else if (kind == "lesson")
    body = read_lesson(value, error);
  else
    error = "frame of an unknown kind";
}

}  // namespace

Result<Frame> decode(std::span<const std::byte> bytes, int oldest) {
  auto read = decode_in_place(bytes, oldest);
  if (!read) return read.error();
  if (auto* events = std::get_if<Events>(&read->frame.body)) events->blob.assign(read->blob.begin(), read->blob.end());
  return std::move(read->frame);
}

Result<FrameInPlace> decode_in_place(std::span<const std::byte> bytes, int oldest) {
  if (bytes.size() > kMaxFrameBytes)
    return Error{"frame of " + std::to_string(bytes.size()) + " bytes; the limit is " + std::to_string(kMaxFrameBytes)};
  Packed packed;
  if (!packed.parse(bytes)) return Error{"frame is not one whole msgpack map"};
  std::string error;
  MapReader in(packed.root(), "frame", error);
  const std::int64_t version = in.integer("v", 1, kMaxInt32);
  if (in.ok() && (version < oldest || version > kWireVersion)) {
    const std::string also = oldest < kWireVersion ? std::to_string(oldest) + " and " : "";
    return Error{"frame of wire version " + std::to_string(version) + "; this program reads " + also +
                 std::to_string(kWireVersion)};
  }
  FrameInPlace read;
  Frame& frame = read.frame;
  const std::string kind = in.text("k", kMaxName);
  frame.session = in.text("s", kMaxName);
  frame.node = in.text("n", kMaxName);
  frame.sequence = in.unsigned_integer("q");
  const Value& body = in.map("b");
  if (in.ok()) read_body(read, kind, body, error);
  if (!error.empty()) return Error{error};
  return read;
}

}  // namespace idlewave::wire
