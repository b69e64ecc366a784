// Recordings of simulated programs whose partners, work and delays are known: what is derived from the file alone must
// be the same.

#include "monitor/analysis/program/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <random>

#include "monitor/analysis/partners/exchange_search.h"
#include "monitor/cli/recording.h"
#include "monitor/cli/simulation/observation.h"
#include "monitor/model/derived_scenario.h"
#include "probe/wire/codec.h"
#include "probe/wire/frame_log.h"
#include "tests/any_seed.h"
#include "tests/wire/files.h"

namespace idlewave::cli::simulation {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kMemory = 512u << 20;

constexpr const char* kScenario = R"([machine]
ranks = 40
ranks_per_domain = 10
core_bandwidth = "10 GB/s"
domain_bandwidth = "50 GB/s"
[program]
steps = 120
kernel = "memory"
volume = "50 MB"
[communication]
topology = "ring"
distances = [-1, 1]
protocol = "eager"
wait = "all"
time = "0 us"
[[delay]]
rank = 5
step = 5
duration = "1.2 s"
)";

class DerivedScenario : public testing::Test {
 protected:
  DerivedScenario() {
    std::string name = fs::temp_directory_path() / "idlewave-inference-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~DerivedScenario() override { fs::remove_all(folder_); }

  support::Scenario scenario(const std::vector<std::string>& settings) {
    auto parsed = support::parse_scenario(kScenario, "test", settings);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    return std::move(*parsed);
  }

  void record(const std::vector<std::string>& settings, const std::string& path) {
    const sim::Prepared prepared{scenario(settings), nullptr};
    const auto run = sim::run(prepared.scenario, {});
    ASSERT_TRUE(run) << run.error().message;
    const std::atomic<bool> never{false};
    const auto done = observe(prepared, *run, {.program = "test", .session = "s", .record = path}, never);
    ASSERT_TRUE(done) << done.error().message;
  }

  analysis::program::Program recorded(const std::vector<std::string>& settings) {
    const std::string path = folder_ / fmt::format("{}.iw", ++files_);
    record(settings, path);
    auto program = program_in(path);
    EXPECT_TRUE(program) << (program ? "" : program.error().message);
    return std::move(*program);
  }

  /// From the times alone, whatever ranks say.
  analysis::partners::Exchange derived(const std::vector<std::string>& settings) {
    return analysis::partners::find_exchange(analysis::steps::StepSample::of(recorded(settings).steps));
  }

  static wire::Result<analysis::program::Program> program_in(const std::string& path) {
    const auto recording = read_recording(path, kMemory);
    return recording ? analysis::program::find_program(recording->timeline()) : recording.error();
  }

  fs::path folder_;

 private:
  int files_ = 0;
};

TEST_F(DerivedScenario, FindsThePartnersOfEveryPattern) {
  EXPECT_THAT(derived({}).distances, ElementsAre(-1, 1));
  EXPECT_THAT(derived({"communication.distances=[1]"}).distances, ElementsAre(1));
  EXPECT_THAT(derived({"communication.distances=[3]"}).distances, ElementsAre(3));
  EXPECT_THAT(derived({"communication.distances=[-2, -1, 1, 2]"}).distances, ElementsAre(-2, -1, 1, 2));
}

TEST_F(DerivedScenario, SeesReceiversTooWhereBothSidesWait) {
  EXPECT_THAT(derived({"communication.distances=[1]", "communication.protocol=rendezvous"}).distances,
              ElementsAre(-1, 1));
}

TEST_F(DerivedScenario, IsWhatRanksSayOfTheirMessages) {
  const analysis::partners::Exchange said =
      recorded({"communication.distances=[1]", "communication.protocol=rendezvous", "delay.0.duration=0 s"}).exchange;
  EXPECT_TRUE(said.declared && said.certain && said.rendezvous && said.ring);
  EXPECT_THAT(said.distances, ElementsAre(1));
}

TEST_F(DerivedScenario, TellsARingFromAChain) {
  EXPECT_TRUE(derived({}).ring);
  EXPECT_FALSE(derived({"communication.topology=chain"}).ring);
  EXPECT_FALSE(derived({"communication.topology=chain", "communication.distances=[1]"}).ring);
}

TEST_F(DerivedScenario, FindsThePartnersOfACoreBoundProgram) {
  const analysis::partners::Exchange pattern =
      derived({"program.kernel=core", "program.time=10 ms", "communication.time=1 ms"});
  EXPECT_THAT(pattern.distances, ElementsAre(-1, 1));
  EXPECT_NEAR(double(pattern.transfer.count()), 1e6, 10);
}

TEST_F(DerivedScenario, TellsEagerFromRendezvousWhereMessagesTakeTime) {
  const analysis::partners::Exchange eager = derived({"communication.time=2 ms"});
  EXPECT_FALSE(eager.rendezvous || eager.split);
  const analysis::partners::Exchange both = derived({"communication.time=2 ms", "communication.protocol=rendezvous"});
  EXPECT_TRUE(both.rendezvous);
  EXPECT_NEAR(double(both.transfer.count()), 2e6, 10);
}

TEST_F(DerivedScenario, TellsSplitWaits) {
  const std::vector<std::string> split = {"communication.time=2 ms", "communication.wait=split",
                                          "communication.distances=[3, -1]", "noise.distribution=exponential",
                                          "noise.mean=0.3 ms"};
  const analysis::partners::Exchange exchange = derived(split);
  EXPECT_TRUE(exchange.split);
  EXPECT_FALSE(exchange.rendezvous);
  EXPECT_THAT(exchange.distances, testing::UnorderedElementsAre(3, -1)) << "in a ring their order makes no difference";
  EXPECT_NEAR(double(exchange.transfer.count()), 2e6, 10);
}

TEST_F(DerivedScenario, SaysThatItGuessesWhereNobodyWasLate) {
  const analysis::partners::Exchange pattern = derived({"delay.0.duration=0 s"});
  EXPECT_FALSE(pattern.certain);
  EXPECT_THAT(pattern.distances, ElementsAre(-1, 1));
}

TEST_F(DerivedScenario, SimulatesToTheSameEnd) {
  for (const std::vector<std::string>& settings : {std::vector<std::string>{},
                                                   {"communication.topology=chain"},
                                                   {"machine.ranks_per_domain=8"},
                                                   {"communication.time=2 ms"},
                                                   {"program.kernel=core", "program.time=7 ms"},
                                                   {"communication.distances=[1]"}}) {
    const auto derived = support::parse_scenario(model::scenario_of(recorded(settings), "test"), "derived");
    ASSERT_TRUE(derived) << derived.error().message;
    const auto again = sim::run(*derived, {}), before = sim::run(scenario(settings), {});
    EXPECT_NEAR(again->makespan, before->makespan, 2e-3 * before->makespan) << testing::PrintToString(settings);
    ASSERT_EQ(derived->delays.size(), 1u);
    EXPECT_EQ(derived->delays[0].rank, 5);
    EXPECT_EQ(derived->delays[0].step, 5);
  }
}

using Change = std::function<void(wire::Frame&)>;

/// The same recording with each of its frames changed, one frame a block.
void rewrite(const std::string& path, const std::string& to, const Change& change) {
  auto reader = wire::FrameLogReader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  auto writer = wire::FrameLogWriter::create(to, (*reader)->header());
  ASSERT_TRUE(writer) << writer.error().message;
  for (wire::FrameLogEntry entry; (*reader)->next(entry);) {
    wire::Frame frame = *wire::decode(entry.bytes);
    change(frame);
    ASSERT_TRUE((*writer)->append(entry.received_at, entry.direction, wire::encode(frame)));
    ASSERT_TRUE((*writer)->flush());
  }
  ASSERT_TRUE((*writer)->close());
}

void number_steps_by_tens(wire::Frame& frame) {
  auto* events = std::get_if<wire::Events>(&frame.body);
  if (events == nullptr) return;
  wire::EventDecoder decoder;
  const auto batches = decoder.decode(events->blob);
  ASSERT_TRUE(batches);
  std::vector<std::vector<wire::Event>> changed;
  std::vector<wire::LaneBatch> lanes;
  for (const wire::LaneBatch& batch : *batches) {
    auto& copy = changed.emplace_back(batch.events.begin(), batch.events.end());
    for (wire::Event& event : copy) {
      if (event.kind == wire::EventKind::kStep) event.value = event.value * 10;
    }
    lanes.push_back({batch.lane, copy});
  }
  std::vector<std::byte> blob;
  wire::encode_events(lanes, blob);
  events->blob = blob;
}

void expect_sound(const analysis::program::Program& program) {
  const analysis::steps::CommonSteps& common = program.steps;
  ASSERT_GE(common.steps(), 2u);
  for (const auto& steps : common.ranks) {
    ASSERT_EQ(steps.size(), common.steps());
    Nanoseconds before = common.begin();
    for (const analysis::steps::RankStep& step : steps) {
      ASSERT_TRUE(before <= step.begin && step.begin + step.held <= step.post && step.post <= step.end);
      before = step.end;
    }
  }
}

TEST_F(DerivedScenario, IsTheSameWhereStepsAreNumberedByTens) {
  const std::string path = folder_ / "ones.iw", tens = folder_ / "tens.iw";
  record({}, path);
  rewrite(path, tens, number_steps_by_tens);
  const auto expected = program_in(path), program = program_in(tens);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->steps.steps(), expected->steps.steps());
  EXPECT_EQ(program->steps.known, expected->steps.known);
  EXPECT_EQ(model::scenario_of(*program, "x"), model::scenario_of(*expected, "x"));
}

TEST_F(DerivedScenario, IsOfTheStepsBesideAFrameThatIsMissing) {
  const std::string path = folder_ / "whole.iw", holed = folder_ / "holed.iw";
  record({"program.steps=2000"}, path);
  const std::size_t all = program_in(path)->steps.steps();
  std::size_t frames = 0;
  rewrite(path, holed, [&](wire::Frame&) { ++frames; });
  fs::remove(holed);
  ASSERT_GT(frames, 5u);
  rewrite(path, holed, [&](wire::Frame& frame) {
    if (frame.sequence == frames / 3) frame.body = wire::Events{};  // empty, under the number of what was there
    if (frame.sequence > frames / 3) frame.sequence += 4;
  });
  const auto program = program_in(holed);
  ASSERT_TRUE(program) << program.error().message;
  expect_sound(*program);
  EXPECT_LT(program->steps.steps(), all);
  EXPECT_GT(program->steps.steps(), all / 2);
  EXPECT_GT(program->steps.known, program->steps.steps());
}

TEST_F(DerivedScenario, IsOfWhatIsSoundInADamagedRecording) {
  const unsigned first_seed = any_seed();
  const std::string path = folder_ / "whole.iw", blocks = folder_ / "blocks.iw", hurt = folder_ / "hurt.iw";
  record({"machine.ranks=8", "machine.ranks_per_domain=4", "program.steps=400"}, path);
  rewrite(path, blocks, [](wire::Frame&) {});
  const std::vector<std::byte> whole = wire::read_file(blocks);
  int read = 0;
  for (unsigned seed = first_seed; seed != first_seed + 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<std::byte> bytes = whole;
    for (auto hits = random() % 4 + 1; hits > 0; --hits) bytes[16 + random() % (bytes.size() - 16)] ^= std::byte{0x55};
    if (random() % 3 == 0) bytes.resize(bytes.size() / 4 + random() % (bytes.size() * 3 / 4));
    wire::write_file(hurt, bytes);
    const auto recording = read_recording(hurt, kMemory);
    if (!recording) {
      ASSERT_THAT(recording.error().message, HasSubstr("hurt.iw"));
      continue;
    }
    ASSERT_EQ(recording->damage.first.empty(), bytes == whole) << "two hits of one byte leave what it was";
    const auto program = analysis::program::find_program(recording->timeline());
    if (!program) {
      ASSERT_FALSE(program.error().message.empty());
      continue;
    }
    ++read;
    ASSERT_NO_FATAL_FAILURE(expect_sound(*program));
    ASSERT_TRUE(support::parse_scenario(model::scenario_of(*program, hurt), "derived"));
  }
  EXPECT_GT(read, 50);
}

TEST_F(DerivedScenario, NeedsTwoStepsInARow) {
  const auto program = program_in(IDLEWAVE_GOLDEN_DIR "/session-v1.iw");
  ASSERT_FALSE(program);
  EXPECT_THAT(program.error().message, HasSubstr("no two in a row"));
}

}  // namespace
}  // namespace idlewave::cli::simulation
