// Recordings of simulated programs whose partners, work and delays are known: what is derived from the file alone must
// be the same.

#include "workloads/sim/main/inference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "probe/wire/codec.h"
#include "probe/wire/frame_log.h"
#include "tests/wire/files.h"
#include "workloads/sim/emitter/recording.h"

namespace idlewave::sim {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using wire::Rank;
using wire::Step;

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

auto record(support::Scenario scenario, const std::string& path) {
  const wire::FrameLogHeader header{
      .program_version = "test", .session = "simulation", .machine = "simulated", .command_line = "test"};
  return emitter::record({std::move(scenario), nullptr}, header, "test", path, nullptr);
}

class Inference : public testing::Test {
 protected:
  Inference() {
    std::string name = fs::temp_directory_path() / "idlewave-inference-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Inference() override { fs::remove_all(folder_); }

  support::Scenario scenario(const std::vector<std::string>& settings) {
    auto parsed = support::parse_scenario(kScenario, "test", settings);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    return std::move(*parsed);
  }

  SessionHistory recorded(const std::vector<std::string>& settings) {
    const std::string path = folder_ / fmt::format("{}.iw", ++files_);
    const auto done = record(scenario(settings), path);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    auto history = read_history(path);
    EXPECT_TRUE(history) << (history ? "" : history.error().message);
    return std::move(*history);
  }

  Pattern derived(const std::vector<std::string>& settings) { return pattern_of(recorded(settings)); }

  fs::path folder_;

 private:
  int files_ = 0;
};

TEST_F(Inference, FindsThePartnersOfEveryPattern) {
  EXPECT_THAT(derived({}).distances, ElementsAre(-1, 1));
  EXPECT_THAT(derived({"communication.distances=[1]"}).distances, ElementsAre(1));
  EXPECT_THAT(derived({"communication.distances=[3]"}).distances, ElementsAre(3));
  EXPECT_THAT(derived({"communication.distances=[-2, -1, 1, 2]"}).distances, ElementsAre(-2, -1, 1, 2));
}

TEST_F(Inference, SeesReceiversTooWhereBothSidesWait) {
  EXPECT_THAT(derived({"communication.distances=[1]", "communication.protocol=rendezvous"}).distances,
              ElementsAre(-1, 1));
}

TEST_F(Inference, TellsARingFromAChain) {
  EXPECT_TRUE(derived({}).ring);
  EXPECT_FALSE(derived({"communication.topology=chain"}).ring);
  EXPECT_FALSE(derived({"communication.topology=chain", "communication.distances=[1]"}).ring);
}

TEST_F(Inference, FindsThePartnersOfACoreBoundProgram) {
  const Pattern pattern = derived({"program.kernel=core", "program.time=10 ms", "communication.time=1 ms"});
  EXPECT_THAT(pattern.distances, ElementsAre(-1, 1));
  EXPECT_NEAR(pattern.transfer, 1e-3, 1e-8);
}

TEST_F(Inference, SaysThatItGuessesWhereNobodyWasLate) {
  const Pattern pattern = derived({"delay.0.duration=0 s"});
  EXPECT_FALSE(pattern.certain);
  EXPECT_THAT(pattern.distances, ElementsAre(-1, 1));
}

TEST_F(Inference, SimulatesToTheSameEnd) {
  for (const std::vector<std::string>& settings : {std::vector<std::string>{},
                                                   {"communication.topology=chain"},
                                                   {"machine.ranks_per_domain=8"},
                                                   {"communication.time=2 ms"},
                                                   {"program.kernel=core", "program.time=7 ms"},
                                                   {"communication.distances=[1]"}}) {
    const SessionHistory history = recorded(settings);
    const auto derived = support::parse_scenario(scenario_of(history, pattern_of(history), "test"), "derived");
    ASSERT_TRUE(derived) << derived.error().message;
    const auto again = run(*derived, {}), before = run(scenario(settings), {});
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

void expect_sound(const SessionHistory& history) {
  ASSERT_GE(history.steps(), 2u);
  ASSERT_EQ(history.domain_of.size(), history.ranks.size());
  for (const auto& steps : history.ranks) {
    ASSERT_EQ(steps.size(), history.steps());
    double before = 0;
    for (const StepTimes& step : steps) {
      ASSERT_TRUE(before <= step.begin && step.begin <= step.post && step.post <= step.end);
      before = step.end;
    }
  }
}

TEST_F(Inference, StepsNumberedByTensAreStepsToo) {
  const std::string path = folder_ / "ones.iw", tens = folder_ / "tens.iw";
  ASSERT_TRUE(record(scenario({}), path));
  rewrite(path, tens, number_steps_by_tens);
  const auto expected = read_history(path), history = read_history(tens);
  ASSERT_TRUE(history) << history.error().message;
  EXPECT_EQ(history->steps(), expected->steps());
  EXPECT_THAT(history->left_out, IsEmpty());
  EXPECT_EQ(scenario_of(*history, pattern_of(*history), "x"), scenario_of(*expected, pattern_of(*expected), "x"));
}

TEST_F(Inference, AFrameThatIsMissingIsToldAndEndsTheRunOfSteps) {
  const std::string path = folder_ / "whole.iw", holed = folder_ / "holed.iw";
  ASSERT_TRUE(record(scenario({"program.steps=2000"}), path));
  const std::size_t all = read_history(path)->steps();
  std::size_t frames = 0;
  rewrite(path, holed, [&](wire::Frame&) { ++frames; });
  fs::remove(holed);
  ASSERT_GT(frames, 5u);
  rewrite(path, holed, [&](wire::Frame& frame) {
    if (frame.sequence == frames / 3) frame.body = wire::Events{};  // empty, under the number of what was there
    if (frame.sequence > frames / 3) frame.sequence += 4;
  });
  const auto history = read_history(holed);
  ASSERT_TRUE(history) << history.error().message;
  expect_sound(*history);
  EXPECT_LT(history->steps(), all);
  EXPECT_GT(history->steps(), all / 2);
  EXPECT_THAT(history->left_out, Contains(HasSubstr("4 frames are missing")));
  EXPECT_THAT(history->left_out, Contains(HasSubstr("steps are taken")));
}

TEST_F(Inference, ADamagedRecordingIsReadAsFarAsItIsSoundAndSaysSo) {
  const unsigned first_seed = std::random_device{}();
  const std::string path = folder_ / "whole.iw", blocks = folder_ / "blocks.iw", hurt = folder_ / "hurt.iw";
  ASSERT_TRUE(record(scenario({"machine.ranks=8", "machine.ranks_per_domain=4", "program.steps=400"}), path));
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
    const auto history = read_history(hurt);
    if (!history) {
      ASSERT_THAT(history.error().message, HasSubstr("hurt.iw"));
      continue;
    }
    ++read;
    ASSERT_NO_FATAL_FAILURE(expect_sound(*history));
    ASSERT_THAT(history->left_out, Not(IsEmpty()));
    ASSERT_TRUE(support::parse_scenario(scenario_of(*history, pattern_of(*history), hurt), "derived"));
  }
  EXPECT_GT(read, 50);
}

TEST_F(Inference, ARecordingWithoutTwoStepsInARowIsRefusedInALine) {
  const auto history = read_history(IDLEWAVE_GOLDEN_DIR "/session-v1.iw");
  ASSERT_FALSE(history);
  EXPECT_THAT(history.error().message, HasSubstr("no two in a row"));
}

TEST_F(Inference, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(read_history(folder_ / "none.iw").error().message, HasSubstr("none.iw"));
  std::ofstream(folder_ / "text.iw") << "hello";
  EXPECT_THAT(read_history(folder_ / "text.iw").error().message, HasSubstr("text.iw"));
  const std::string path = folder_ / "short.iw";
  ASSERT_TRUE(record(scenario({"program.steps=6"}), path));
  ASSERT_TRUE(read_history(path));
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_THAT(read_history(path).error().message, HasSubstr("short.iw"));
}

}  // namespace
}  // namespace idlewave::sim
