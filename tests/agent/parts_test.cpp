// The parts of the agent that need no other process.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "probe/agent/beginning.h"
#include "probe/agent/call_reader.h"
#include "probe/agent/event_frames.h"
#include "probe/agent/order_queue.h"
#include "probe/agent/orders.h"
#include "probe/agent/phase_names.h"
#include "probe/agent/reach.h"
#include "probe/agent/resident.h"
#include "probe/agent/segment.h"
#include "probe/agent/topology.h"
#include "probe/shm/clock.h"
#include "probe/wire/agent_record.h"

namespace idlewave::agent {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using wire::Event;
using wire::EventKind;
using wire::LaneId;
using wire::Nanoseconds;
using wire::Phase;
using wire::Rank;

Nanoseconds ns(std::int64_t count) { return Nanoseconds(count); }
Event event_at(std::int64_t time) { return {ns(time), 0, EventKind::kSwitch, Phase::kCompute}; }

std::vector<Event> decode(const wire::Events& frame) {
  wire::EventDecoder decoder;
  auto batches = decoder.decode(frame.blob);
  EXPECT_TRUE(batches);
  std::vector<Event> events;
  for (const wire::LaneBatch& batch : *batches) events.insert(events.end(), batch.events.begin(), batch.events.end());
  return events;
}

std::unique_ptr<shm::CallBook> book_of_two_functions() {
  auto book = std::make_unique<shm::CallBook>();
  std::strcpy(book->function[0].name, "MPI_Send");
  book->function[0].calls = 3;
  book->function[0].bytes = 30;
  book->function[0].time_ns = 500;
  book->function[0].longest_ns = 400;
  std::strcpy(book->function[1].name, "MPI_Recv");
  book->function[1].calls = book->function[1].unsized = 2;
  book->functions = 2;
  // Places are told by nothing but who has taken them.
  for (const auto& [place, to] : {std::pair(700, 1), std::pair(3, 5)}) {
    book->pair[place].messages = 1;
    book->pair[place].bytes = 10;
    book->pair[place].taken_by = to + 1;
  }
  book->other_messages = 1;
  book->other_bytes = 10;
  return book;
}

TEST(CallReader, ReadsWhatTheRankHasCounted) {
  const auto book = book_of_two_functions();
  CallReader reader;
  const wire::RankCalls expected{
      .rank = 4,
      .pid = 100,
      .functions = {{"MPI_Send", 3, 30, 0, ns(500), ns(400)}, {"MPI_Recv", 2, 0, 2, ns(0), ns(0)}},
      .pairs = {{1, 1, 10}, {5, 1, 10}},
      .other_messages = 1,
      .other_bytes = 10};
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), expected);
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), std::nullopt) << "nothing has been called since";
  book->function[1].calls = 3;
  EXPECT_NE(reader.read_if_new(*book, 4, 100, 8), std::nullopt);
  EXPECT_EQ(reader.read_if_new(*book, 4, 100, 8), std::nullopt);
  reader.forget();
  EXPECT_NE(reader.read_if_new(*book, 4, 100, 8), std::nullopt) << "somebody has not heard it";
}

TEST(CallReader, SaysNothingOfARankWithoutCalls) {
  const auto book = std::make_unique<shm::CallBook>();
  EXPECT_EQ(CallReader().read_if_new(*book, 4, 100, 8), std::nullopt);
}

TEST(CallReader, TakesNoPlaceOrSizeFromWhatWasOverwritten) {
  const auto book = book_of_two_functions();
  std::memset(book->function[0].name, 'x', sizeof book->function[0].name);
  book->function[0].time_ns = std::numeric_limits<std::int64_t>::min();
  book->pair[9].taken_by = std::numeric_limits<std::int32_t>::min();
  book->pair[10].taken_by = 9;  // A program of eight ranks has no rank 8.
  book->pair[11].taken_by = 6;  // Rank 5 once more.
  book->functions = ~0u;
  const auto calls = CallReader().read_if_new(*book, 4, 100, 8);
  ASSERT_NE(calls, std::nullopt);
  EXPECT_EQ(calls->functions.size(), shm::kCallFunctions);
  EXPECT_EQ(calls->functions[0].name.size(), std::size_t(shm::kCallNameLimit));
  EXPECT_EQ(calls->functions[0].time, ns(0));
  EXPECT_EQ(calls->pairs.size(), 2u);
  const wire::Frame frame{"s", "n", 1, wire::Events{ns(0), {}, {*calls}}};
  const auto back = wire::decode(wire::encode(frame));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, frame);
}

constexpr std::int64_t kWall = 1'700'000'000'000'000'000;  // 2023.

TEST(Beginning, IsTheFirstEventAndNoLaterOne) {
  shm::Header header;
  Beginning beginning(header, ns(1000));
  EXPECT_EQ(beginning.at(), std::nullopt);
  EXPECT_TRUE(beginning.note_first(ns(1500)));
  EXPECT_FALSE(beginning.note_first(ns(1200)));
  EXPECT_EQ(beginning.at(), ns(1500));
}

TEST(Beginning, IsNotBeforeTheAgentWhateverARankSays) {
  shm::Header header;
  Beginning beginning(header, ns(1000));
  EXPECT_TRUE(beginning.note_first(ns(0)));
  EXPECT_EQ(beginning.at(), ns(1000));
}

TEST(Beginning, IsWhatTheMonitorSaysOnceAndForGood) {
  std::mt19937_64 random(std::random_device{}());
  for (int round = 0; round < 100; ++round) {
    shm::Header header;
    const Nanoseconds now(std::int64_t(random() % 1'000'000'000'000'000));
    const auto ago = std::int64_t(random() % 100'000'000'000'000);
    Beginning beginning(header, now);
    const bool has_told = random() % 2 == 0;
    if (has_told) beginning.note_first(now);
    EXPECT_EQ(beginning.settle(kWall - ago, kWall, now), !has_told || ago > 1'000'000);
    const auto at = beginning.at();
    EXPECT_LE(std::abs((*at - (now - ns(ago))).count()), 1'000'000);
    EXPECT_FALSE(beginning.settle(kWall - ago / 2 - 7'000'000'000, kWall, now)) << "it was settled";
    EXPECT_FALSE(beginning.note_first(now + milliseconds(1)));
    EXPECT_EQ(beginning.at(), at);
  }
}

TEST(Beginning, IsNotMovedByAWordThatCanNotBe) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min(),
                         kHigh = std::numeric_limits<std::int64_t>::max();
  shm::Header header;
  Beginning beginning(header, ns(1000));
  beginning.note_first(ns(1000));
  for (const std::int64_t said :
       {std::int64_t{0}, std::int64_t{-1}, kLow, kHigh, kWall + 1, kWall - (std::int64_t{1} << 58)})
    EXPECT_FALSE(beginning.settle(said, kWall, ns(5000))) << said;
  EXPECT_EQ(beginning.at(), ns(1000));
  EXPECT_TRUE(beginning.settle(kWall - 1'000'000'000, kWall, ns(5000))) << "nothing of that has settled it";
}

TEST(Beginning, IsKeptForTheAgentThatTakesOver) {
  shm::Header header;
  {
    Beginning first(header, ns(1000));
    first.note_first(ns(2000));
  }
  {
    Beginning second(header, ns(900'000));
    EXPECT_EQ(second.at(), ns(2000));
    EXPECT_FALSE(second.note_first(ns(900'001)));
    EXPECT_TRUE(second.settle(kWall - 2'000'000'000, kWall, ns(900'002)));
  }
  Beginning third(header, ns(1'000'000));
  EXPECT_EQ(third.at(), ns(900'002 - 2'000'000'000));
  EXPECT_FALSE(third.settle(kWall - 9'000'000'000, kWall, ns(1'000'000))) << "it was settled";
}

TEST(Beginning, IsNotWhatSomebodyWroteIntoTheMemory) {
  for (const std::int64_t written :
       {std::int64_t{1'000'001}, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    shm::Header header;
    header.began_ns = written;
    header.began_known = shm::Began::kSettled;
    EXPECT_EQ(Beginning(header, ns(1'000'000)).at(), std::nullopt) << written;
  }
}

TEST(EventFrames, KnowTheirEarliestEvent) {
  EventFrames frames;
  EXPECT_EQ(frames.earliest(), std::nullopt);
  Nanoseconds last{}, other{};
  frames.append({LaneId::Kind::kRank, 3}, last, event_at(70));
  frames.append({LaneId::Kind::kRank, 1}, other, event_at(50));
  frames.append({LaneId::Kind::kRank, 3}, last, event_at(80));
  EXPECT_EQ(frames.earliest(), ns(50));
  frames.take(ns(90));
  EXPECT_EQ(frames.earliest(), std::nullopt);
}

TEST(EventFrames, NeverSendAnEventOlderThanTheyPromised) {
  EventFrames frames;
  Nanoseconds last{};
  frames.append({}, last, event_at(50));
  EXPECT_EQ(frames.take(ns(100)).up_to, ns(100));
  frames.append({}, last, event_at(99));  // published late
  frames.append({}, last, event_at(120));
  const auto events = decode(frames.take(ns(200)));
  EXPECT_EQ(events.at(0).time, ns(100));
  EXPECT_EQ(events.at(1).time, ns(120));
}

TEST(EventFrames, NeverPromiseLessThanBefore) {
  EventFrames frames;
  EXPECT_EQ(frames.take(ns(100)).up_to, ns(100));
  EXPECT_EQ(frames.take(ns(90)).up_to, ns(100));
}

TEST(EventFrames, KeepTheOrderOfALane) {
  EventFrames frames;
  Nanoseconds last{};
  for (const int time : {10, 30, 20}) frames.append({}, last, event_at(time));
  const auto events = decode(frames.take(ns(0)));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[2].time, ns(30));
}

TEST(EventFrames, StayBelowAMegabyteWhateverIsInThem) {
  EventFrames frames;
  std::mt19937_64 random(1);
  std::map<int, Nanoseconds> last;
  for (std::uint64_t more = Resident::kAtOnce; !frames.full() || more > 0; more -= frames.full()) {
    const int lane = int(random() % 100'000);
    const Event wild{ns(std::int64_t(random() >> 2)), random() & wire::kMaxEventValue, EventKind(random() % 11),
                     Phase(random() % 64)};
    frames.append({LaneId::Kind::kRank, lane}, last[lane], wild);
  }
  EXPECT_LT(frames.take(ns(0)).blob.size(), 1u << 20);
}

/// What a rank wrote into its slot.
class Book {
 public:
  /// `ranks`: those it receives from; `flags` as of idlewave_partners.
  void pattern(std::uint32_t number, const std::vector<Rank>& ranks, std::uint32_t flags = 0) {
    book_->patterns[number] = {1, flags, used_, std::uint32_t(ranks.size()), 0};
    for (const Rank rank : ranks) book_->ranks[used_++] = rank;
  }
  void cycle(std::uint32_t number, const std::vector<std::uint8_t>& symbols) {
    book_->cycles[number - 1] = {symbols_, std::uint32_t(symbols.size())};
    for (const std::uint8_t symbol : symbols) book_->symbols[symbols_++] = symbol;
  }
  shm::PartnerBook& operator*() { return *book_; }

 private:
  std::unique_ptr<shm::PartnerBook> book_ = std::make_unique<shm::PartnerBook>();
  std::uint32_t used_ = 0, symbols_ = 0;
};
constexpr std::uint8_t kEnd = shm::kEndOfStep;

TEST(PartnerNames, AreSharedByAllRanksOfARing) {
  PartnerNames names;
  constexpr Rank kRanks = 1000;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    Book book;
    book.pattern(5, {(rank + 1) % kRanks, (rank + kRanks - 1) % kRanks, -1});
    book.cycle(1, {5, kEnd});
    PartnerMap map;
    ASSERT_EQ(map.translate(1, *book, {rank, kRanks}, names), 1u);
  }
  ASSERT_EQ(names.patterns().size(), 1u);
  EXPECT_THAT(names.patterns()[0].from, testing::ElementsAre(-1, 1));
  ASSERT_EQ(names.cycles().size(), 1u);
}

TEST(PartnerNames, TellACollectiveOfAllFromOneOfAGroup) {
  PartnerNames names;
  Book book;
  book.pattern(0, {}, shm::PartnerBook::kCollective);
  book.pattern(1, {0, 1, 2, 3}, shm::PartnerBook::kCollective);
  book.pattern(2, {0, 2}, shm::PartnerBook::kCollective);
  book.pattern(3, {2}, shm::PartnerBook::kCollective);
  book.cycle(1, {0, kEnd, 1, kEnd, 2, 3, kEnd});
  PartnerMap map;
  ASSERT_EQ(map.translate(1, *book, {2, 4}, names), 1u);
  EXPECT_EQ(names.patterns(),
            (std::vector<wire::WaitPattern>{{false, true, {}, {}}, {false, true, {2}, {}}, {false, false, {}, {}}}));
  EXPECT_EQ(names.cycles()[0], (wire::WaitCycle{{{0}, {0}, {1, 2}}}));
}

TEST(PartnerNames, TakeNothingThatIsNotSound) {
  PartnerNames names;
  Book book;
  book.pattern(0, {1});
  book.cycle(1, {0, 7, kEnd});
  book.cycle(2, {0, 200, kEnd});
  (*book).cycles[2] = {shm::kCycleSymbols - 1, 3};
  (*book).cycles[3] = {0, 1'000'000'000};
  book.cycle(5, {9, kEnd});
  (*book).patterns[9] = {1, 0, shm::kPatternRanks - 1, 1, 1'000'000'000};
  book.cycle(6, {10, kEnd});
  (*book).patterns[10] = {1, 0, 4'000'000'000u, 4'000'000'000u, 4'000'000'000u};
  PartnerMap map;
  for (std::uint64_t cycle : {1, 2, 3, 4, 5, 6, 7, 64, 65, 1'000'000'000})
    EXPECT_EQ(map.translate(cycle, *book, {0, 4}, names), 0u) << cycle;
  EXPECT_TRUE(names.cycles().empty());
}

TEST(PartnerNames, LeaveOutRanksThatCantBe) {
  PartnerNames names;
  Book book;
  book.pattern(0, {0, 3, 4, -7, 2'000'000'000, 3});
  book.cycle(1, {0, kEnd});
  PartnerMap map;
  ASSERT_EQ(map.translate(1, *book, {0, 4}, names), 1u);
  EXPECT_THAT(names.patterns()[0].from, testing::ElementsAre(-1));
}

TEST(PartnerNames, StayWithinARosterWhateverRanksSay) {
  PartnerNames names;
  std::mt19937 random(1);
  std::vector<std::uint32_t> numbers;
  for (Rank rank = 0; rank < 300; ++rank) {
    Book book;
    for (std::uint32_t pattern = 0; pattern < 4; ++pattern) {
      std::vector<Rank> from(1000);
      for (Rank& each : from) each = Rank(random() % wire::kMaxRanks);
      book.pattern(pattern, from);
    }
    book.cycle(1, {0, 1, 2, 3, kEnd});
    PartnerMap map;
    numbers.push_back(map.translate(1, *book, {rank, wire::kMaxRanks}, names));
  }
  EXPECT_EQ(numbers.front(), 1u);
  EXPECT_EQ(numbers.back(), 0u);
  wire::Roster roster;
  roster.world_size = wire::kMaxRanks;
  roster.patterns = names.patterns();
  roster.cycles = names.cycles();
  const auto bytes = wire::encode({"s", "n", 1, roster});
  EXPECT_LT(bytes.size(), wire::kMaxFrameBytes / 4);
  EXPECT_TRUE(wire::decode(bytes));
}

TEST(PhaseNames, GiveEachNameANumber) {
  PhaseNames names;
  const Phase fft = names.number_of("fft", Phase::kCompute);
  EXPECT_EQ(std::uint8_t(fft), wire::kFirstUserPhase);
  EXPECT_NE(names.number_of("halo", Phase::kCommunicate), fft);
  EXPECT_EQ(names.number_of("fft", Phase::kCompute), fft);
}

TEST(PhaseNames, FallBackToTheCategoryWhenNumbersRunOut) {
  PhaseNames names;
  for (int i = wire::kFirstUserPhase; i < wire::kPhaseLimit; ++i) names.number_of(std::to_string(i), Phase::kCompute);
  EXPECT_EQ(names.number_of("one more", Phase::kWait), Phase::kWait);
  EXPECT_EQ(names.all().size(), std::size_t(wire::kPhaseLimit - wire::kFirstUserPhase));
}

shm::Delay delay(wire::CommandId id, wire::Step step = wire::kNoStep) { return {id, 1000, step}; }

/// What the rank takes when it begins `step`; 0: nothing.
wire::CommandId begin_step(shm::Slot& slot, OrderQueue& queue, wire::Step step) {
  queue.pump(slot);
  shm::Delay taken;
  if (shm::take_delay(slot, step, taken) != shm::DelayAnswer::kTaken) return 0;
  shm::finish_delay(slot);
  return taken.command;
}

TEST(OrderQueue, HandsOutDelaysInTheOrderOfTheirSteps) {
  shm::Slot slot;
  OrderQueue queue;
  queue.add(delay(1, 30));
  queue.pump(slot);
  queue.add(delay(2, 10));
  queue.add(delay(3));
  queue.add(delay(4, 10));
  EXPECT_EQ(begin_step(slot, queue, 5), 3u);
  EXPECT_EQ(begin_step(slot, queue, 6), 0u);
  EXPECT_EQ(begin_step(slot, queue, 10), 2u);
  EXPECT_EQ(begin_step(slot, queue, 11), 4u);
  EXPECT_EQ(begin_step(slot, queue, 29), 0u);
  EXPECT_EQ(begin_step(slot, queue, 30), 1u);
  EXPECT_EQ(begin_step(slot, queue, 31), 0u);
}

TEST(OrderQueue, LetsADelayThatHasBegunGoFirstButClearsItToo) {
  shm::Slot slot;
  OrderQueue queue;
  queue.add(delay(1, 10));
  queue.pump(slot);
  shm::Delay taken;
  ASSERT_EQ(shm::take_delay(slot, 10, taken), shm::DelayAnswer::kTaken);
  queue.add(delay(2, 5));
  queue.pump(slot);
  EXPECT_EQ(slot.delay.armed & shm::kStateBits, shm::kHeld);
  queue.clear(slot);
  EXPECT_TRUE(shm::is_revoked(slot));
  EXPECT_TRUE(shm::has_delay(slot)) << "until the rank has noticed";
  shm::finish_delay(slot);
  EXPECT_EQ(begin_step(slot, queue, 20), 0u);
}

/// Slots of a segment whose ranks are this process.
class Ranks {
 public:
  explicit Ranks(std::uint32_t count, Rank world_size, std::uint64_t position = 0) : world_size_(world_size) {
    auto made = Segment::make(count, 64, {});
    EXPECT_TRUE(made);
    segment_ = std::move(*made);
    for (std::uint32_t i = 0; i < count; ++i) {
      shm::Slot& slot = segment_->slot(i);
      slot.pid = getpid();
      slot.process_start = wire::process_start_time(getpid());
      slot.rank = Rank(i);
      slot.world_size = world_size;
      slot.state = shm::SlotState::kLive;
      slot.head = slot.tail = position;
      present_[Rank(i)] = std::make_unique<Resident>(*segment_, i, Newcomer::in(slot), ns(0), ns(0), ns(0), names_);
      known_.push_back({Rank(i), slot.pid, wire::kNoDomain});
    }
  }
  void end(Rank rank) { present_.erase(rank); }
  void forbid_injection() { may_inject_ = false; }
  shm::Slot& slot(std::uint32_t index = 0) { return segment_->slot(index); }
  wire::Event& at(std::uint64_t position) { return const_cast<Event&>(segment_->ring(0)[position]); }
  Resident& resident(Rank rank = 0) { return *present_.at(rank); }
  std::optional<wire::Outcome> order(wire::Command command) {
    return obey(command, {present_, known_, world_size_, may_inject_}, ns(1));
  }

 private:
  std::unique_ptr<Segment> segment_;
  Names names_;
  std::map<Rank, std::unique_ptr<Resident>> present_;
  std::vector<wire::RankInfo> known_;
  Rank world_size_;
  bool may_inject_ = true;
};

std::string reason_of(Ranks& ranks, std::vector<Rank> addressed, decltype(wire::Command::order) order) {
  const auto outcome = ranks.order({1, std::move(addressed), order});
  if (!outcome) return "no answer";
  EXPECT_EQ(outcome->accepted, outcome->reason.empty());
  return outcome->reason;
}

const wire::DelayOrder kSomeDelay{milliseconds(250)};

TEST(Orders, ReachTheRanksTheyName) {
  Ranks ranks(3, 3);
  EXPECT_EQ(reason_of(ranks, {0, 2}, kSomeDelay), "");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, 1u);
  EXPECT_EQ(ranks.slot(1).delay.armed & shm::kStateBits, 0u);
  EXPECT_EQ(ranks.slot(2).delay.armed & shm::kStateBits, 1u);
}

TEST(Orders, ReachAllWhenTheyNameNone) {
  Ranks ranks(2, 2);
  EXPECT_EQ(reason_of(ranks, {}, kSomeDelay), "");
  EXPECT_EQ((ranks.slot(0).delay.armed & shm::kStateBits) + (ranks.slot(1).delay.armed & shm::kStateBits), 2u);
}

TEST(Orders, AreRefusedWholeWhenOneRankCantObey) {
  Ranks ranks(2, 2);
  ranks.end(1);
  EXPECT_EQ(reason_of(ranks, {0, 1}, kSomeDelay), "rank 1 has ended");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, 0u);
}

TEST(Orders, ForRanksThatTheProgramDoesNotHaveAreRefused) {
  Ranks ranks(2, 40);
  EXPECT_EQ(reason_of(ranks, {0, 40}, kSomeDelay), "rank 40: the program has ranks 0 to 39");
  EXPECT_EQ(reason_of(ranks, {-1}, kSomeDelay), "rank -1: the program has ranks 0 to 39");
}

TEST(Orders, ForRanksOfOtherNodesAreLeftToTheirAgents) {
  Ranks ranks(2, 40);
  EXPECT_EQ(reason_of(ranks, {7, 39}, kSomeDelay), "no answer");
  EXPECT_EQ(reason_of(ranks, {1, 39}, kSomeDelay), "");
  EXPECT_EQ(ranks.slot(1).delay.armed & shm::kStateBits, 1u);
}

TEST(Orders, BeforeAnyRankHasJoinedAreRefused) {
  Ranks ranks(0, 0);
  EXPECT_EQ(reason_of(ranks, {3}, kSomeDelay), "rank 3: no rank has joined yet");
  EXPECT_EQ(reason_of(ranks, {}, kSomeDelay), "no rank is running");
}

TEST(Orders, ThatOnlyANewerVersionKnowsAreRefusedAndChangeNothing) {
  Ranks ranks(2, 2);
  ASSERT_EQ(reason_of(ranks, {1}, kSomeDelay), "");
  const auto armed = ranks.slot(1).delay.armed.load();
  EXPECT_EQ(reason_of(ranks, {}, wire::UnknownOrder{"pause"}), "this order is not known to this version");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, 0u);
  EXPECT_EQ(ranks.slot(1).delay.armed.load(), armed);
  ranks.forbid_injection();
  EXPECT_EQ(reason_of(ranks, {0}, wire::UnknownOrder{"pause"}), "this order is not known to this version");
}

TEST(Orders, OfAbsurdSizeAreRefused) {
  using std::chrono::hours;
  using wire::NoiseKind;
  Ranks ranks(1, 1);
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{ns(0)}), HasSubstr("held for 0 s"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{ns(-5)}), HasSubstr("more than 0 s"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{hours(2)}),
              HasSubstr("held for 2 h; accepted is more than 0 s and at most 1 h"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{milliseconds(1), -2}), HasSubstr("step -2"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kExponential, ns(0), 0}), HasSubstr("held for 0 s"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kPeriodic, milliseconds(1), 0}),
              HasSubstr("frequency"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kPeriodic, milliseconds(1), std::nan("")}),
              HasSubstr("frequency"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kPeriodic, milliseconds(3), 400}),
              HasSubstr("leaves no time to work"));
  EXPECT_EQ(ranks.slot(0).attention, 0u);
}

TEST(Orders, WithTheNumberOfTheProgramItselfAreRefused) {
  Ranks ranks(1, 1);
  const auto outcome = ranks.order({0, {0}, kSomeDelay});
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->reason, HasSubstr("command number 0"));
}

std::vector<Event> drain(Ranks& ranks) {
  Names names;
  EventFrames frames;
  std::vector<Event> read;
  EXPECT_TRUE(ranks.resident().drain(ranks.resident().published(), names, frames, read));
  return decode(frames.take(ns(0)));
}

TEST(Resident, ReadsARingThatHasTurnedAround) {
  Ranks ranks(1, 1, 1000 * 64 + 60);
  for (int i = 0; i < 10; ++i)
    ranks.at((60 + std::uint64_t(i)) % 64) = {ns(i), std::uint64_t(i), EventKind::kStep, Phase::kNone};
  ranks.slot().head += 10;
  const auto events = drain(ranks);
  ASSERT_EQ(events.size(), 10u);
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].value, i);
  EXPECT_EQ(ranks.slot().tail, ranks.slot().head);
}

TEST(Resident, TellsARingWhosePositionsCantBeAsALoss) {
  Ranks ranks(1, 1);
  ranks.slot().head = 1'000'000'000;
  const auto events = drain(ranks);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kDropped);
  EXPECT_TRUE(drain(ranks).empty());
}

TEST(Resident, NeverPassesOnWhatNoRankMaySay) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Ranks ranks(1, 1);
  for (std::uint64_t i = 0; i < 64; ++i) {
    const std::uint64_t words[2] = {random(), random()};
    std::memcpy(static_cast<void*>(&ranks.at(i)), words, sizeof words);
  }
  ranks.slot().head = 64;
  const Nanoseconds began = shm::now({});
  for (const Event& event : drain(ranks)) {
    EXPECT_LT(std::uint8_t(event.kind), wire::kEventKindLimit);
    EXPECT_LT(std::uint8_t(event.phase), wire::kPhaseLimit);
    EXPECT_NE(event.kind, EventKind::kBandwidth);
    EXPECT_NE(event.kind, EventKind::kLost);
    EXPECT_LE(event.time, began + std::chrono::minutes(1));
  }
}

TEST(Resident, ATimeOfCenturiesAgoDoesNotOverflowWhatIsReckonedWithIt) {
  Ranks ranks(1, 1);
  Names names;
  EventFrames frames;
  std::vector<Event> read;
  ranks.at(0) = {ns(std::numeric_limits<std::int64_t>::min()), 0, EventKind::kSwitch, Phase::kCompute};
  ranks.slot().head = 1;
  ASSERT_TRUE(ranks.resident().drain(ranks.resident().published(), names, frames, read));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].time, ns(0));
}

TEST(Resident, TellsEventsThatADeadRankCouldNotTellAsDropped) {
  Ranks ranks(1, 1);
  ranks.slot().dropped = 12;
  EventFrames frames;
  std::vector<Event> read;
  ranks.resident().append_end(ns(5), frames, read);
  const auto events = decode(frames.take(ns(0)));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kDropped);
  EXPECT_EQ(events[0].value, 12u);
  EXPECT_EQ(events[1].kind, EventKind::kLost);
}

TEST(Resident, IsNotLostAfterItSaidStop) {
  Ranks ranks(1, 1);
  ranks.at(0) = {ns(1), 0, EventKind::kStop, Phase::kNone};
  ranks.slot().head = 1;
  drain(ranks);
  EventFrames frames;
  std::vector<Event> read;
  ranks.resident().append_end(ns(5), frames, read);
  EXPECT_TRUE(frames.empty());
}

TEST(Reach, TellsWhyNobodyAnswers) {
  EXPECT_EQ(try_to_reach("tcp://127.0.0.1:1"), "connection refused");
  EXPECT_EQ(try_to_reach("ipc:///nowhere/monitor.sock"), "no such file or directory");
  EXPECT_THAT(try_to_reach("tcp://127.0.0.1"), HasSubstr("port"));
  EXPECT_THAT(try_to_reach("udp://127.0.0.1:1"), HasSubstr("neither"));
}

TEST(Reach, TellsThatSomethingElseAnswers) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_THAT(try_to_reach("tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port))),
              HasSubstr("does not take this agent in"));
  close(listener);
}

TEST(Orders, OtherThanClearAreRefusedWhereInjectionIsOff) {
  Ranks ranks(1, 1);
  ranks.forbid_injection();
  EXPECT_THAT(reason_of(ranks, {0}, kSomeDelay), HasSubstr("injection is off"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{wire::NoiseKind::kExponential, milliseconds(1), 0}),
              HasSubstr("--allow-inject"));
  EXPECT_EQ(reason_of(ranks, {0}, wire::ClearOrder{}), "");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, shm::kIdle);
}

TEST(Orders, AddUpToACapForEachRank) {
  using std::chrono::minutes;
  Ranks ranks(2, 2);
  EXPECT_EQ(reason_of(ranks, {0}, wire::DelayOrder{minutes(30)}), "");
  EXPECT_EQ(reason_of(ranks, {0}, wire::DelayOrder{minutes(29)}), "");
  EXPECT_THAT(reason_of(ranks, {}, wire::DelayOrder{minutes(2)}), HasSubstr("rank 0 may be held for 60 s more"));
  EXPECT_EQ(reason_of(ranks, {1}, wire::DelayOrder{minutes(60)}), "") << "each rank has its own";
  EXPECT_THAT(reason_of(ranks, {1}, wire::NoiseOrder{wire::NoiseKind::kExponential, milliseconds(1), 0}),
              HasSubstr("rank 1 may be held for 0 s more"));
}

TEST(Orders, CountWhatARankSaysItWasHeld) {
  using std::chrono::minutes;
  Ranks ranks(1, 1);
  ranks.slot().held_ns = Nanoseconds(minutes(50)).count();
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{minutes(11)}), HasSubstr("600 s more"));
  for (const std::int64_t nonsense : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    ranks.slot().held_ns = nonsense;
    EXPECT_EQ(ranks.resident().held(), ns(0));
  }
  ranks.slot().held_ns = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ranks.resident().may_be_held(), ns(0));
}

TEST(Orders, AreNotStoredWithoutEnd) {
  Ranks ranks(1, 1);
  std::string reason;
  for (int i = 0; i < 2000 && reason.empty(); ++i) reason = reason_of(ranks, {0}, wire::DelayOrder{ns(1)});
  EXPECT_THAT(reason, HasSubstr("delays waiting already"));
}

TEST(Segment, RefusesWhatTheMachineCantHold) { EXPECT_FALSE(Segment::make(1u << 20, 1u << 31, {})); }

TEST(Topology, PlacesThisProcessOnADomainOfTheMachine) {
  const Topology topology;
  ASSERT_FALSE(topology.domains().empty());
  const auto place = topology.place_of(getpid());
  ASSERT_GE(place.domain, 0);
  EXPECT_LT(std::size_t(place.domain), topology.domains().size());
  if (topology.domains().size() == 1) {
    EXPECT_TRUE(place.bound);
  }
}

TEST(Topology, KnowsNoPlaceOfAProcessThatIsNot) { EXPECT_EQ(Topology().place_of(1 << 22).domain, wire::kNoDomain); }

}  // namespace
}  // namespace idlewave::agent
