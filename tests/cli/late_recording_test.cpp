// What is told of a session whose first event comes long after time 0, as where nobody listened before, is what is told
// of it from time 0 on, that much later: no share, mean or wave knows of the time in which nobody listened.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "monitor/cli/observer.h"
#include "monitor/cli/reporting/report.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::cli {
namespace {

using nlohmann::json;
using test::RandomQuietScenarios;
using test::SimulatedFrame;
using test::SimulatedFrames;

constexpr std::uint64_t kMemory = 64 << 20;
constexpr Nanoseconds kLook = std::chrono::milliseconds(250);  // Figures of one moment are those of the same looks.

/// The session as somebody knows it who is told that it began so long before its first event.
std::unique_ptr<Observer> observer_of(const SimulatedFrames& frames, Nanoseconds before) {
  auto observer = std::make_unique<Observer>("session", kMemory);
  for (const SimulatedFrame& frame : frames.all()) {
    auto read = wire::decode(frame.bytes);
    if (auto* roster = std::get_if<wire::Roster>(&read->body)) roster->began = roster->node_time - before;
    observer->accept({frame.at, wire::Direction::kReceived, wire::encode(*read)});
    observer->follow();
  }
  observer->refresh(frames.all().back().at, observer->timeline().now(), std::chrono::seconds(5));
  return observer;
}

/// Numbers that are neither the same nor `late` seconds later; and how many are later.
class Comparison {
 public:
  explicit Comparison(double late) : late_(late) {}

  void compare(const json& early, const json& shifted, const std::string& path) {
    if (early.is_number() && shifted.is_number()) return compare(early.get<double>(), shifted.get<double>(), path);
    if (early.is_structured() && early.type() == shifted.type() && early.size() == shifted.size()) {
      for (auto one = early.begin(), other = shifted.begin(); one != early.end(); ++one, ++other)
        compare(*one, *other, path + "/" + (early.is_object() ? one.key() : fmt::format("{}", one - early.begin())));
      return;
    }
    if (early != shifted) differences += fmt::format("{}: {} and {}\n", path, early.dump(), shifted.dump());
  }

  std::string differences;
  int later = 0;

 private:
  void compare(double early, double shifted, const std::string& path) {
    const double tolerance = 1e-6 * std::max(1.0, std::abs(early));
    const bool is_moment = path.ends_with("_s") || path.find("_s/") != std::string::npos;
    if (std::abs(shifted - early) <= tolerance) return;
    if (is_moment && std::abs(shifted - early - late_) <= tolerance) return static_cast<void>(++later);
    differences += fmt::format("{}: {} and {}\n", path, early, shifted);
  }

  double late_;
};

support::Scenario scenario_with_a_delay(RandomQuietScenarios& random) {
  constexpr double kSeconds = 8;
  support::Scenario scenario = random.next(random.real(0, 0.1), kSeconds);
  const auto step = Nanoseconds(std::int64_t(kSeconds * 1e9)) / scenario.program.steps;
  scenario.delays = {
      {random.whole(0, scenario.machine.ranks - 1), scenario.program.steps / 4, step * random.whole(5, 40)}};
  return scenario;
}

TEST(LateRecording, TellsTheSameThatMuchLater) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  for (int i = 0; i < 10; ++i) {
    const Nanoseconds late = kLook * random.whole(1, 40'000);
    SCOPED_TRACE(fmt::format("session {} of seed {}, {} ns late", i, seed, late.count()));
    const SimulatedFrames frames(scenario_with_a_delay(random));
    const auto early = observer_of(frames, Nanoseconds{0}), shifted = observer_of(frames, late);
    EXPECT_EQ(shifted->timeline().begin(), early->timeline().begin() + late);
    // Buckets lie elsewhere among those of double width: there may be one more, and then room for twice as many.
    EXPECT_LT(shifted->timeline().bytes_used(), 2 * early->timeline().bytes_used());
    const words::Fractions window{0.2, 0.9};
    const json one = json::parse(reporting::report_json(early->timeline(), window));
    const json other = json::parse(reporting::report_json(shifted->timeline(), window));
    Comparison comparison(double(late.count()) * 1e-9);
    comparison.compare(one, other, "");
    EXPECT_EQ(comparison.differences, "");
    EXPECT_GT(comparison.later, 10);
    EXPECT_EQ(one["from_s"], 0.0);
    EXPECT_DOUBLE_EQ(other["from_s"], double(late.count()) * 1e-9);
    const auto &first = early->findings(), &second = shifted->findings();
    EXPECT_EQ(second.window.from, first.window.from + late);
    EXPECT_EQ(second.steps.mean, first.steps.mean);
    EXPECT_EQ(early->narrator().remarks().size(), shifted->narrator().remarks().size());
  }
}

TEST(LateRecording, SaysFromWhenOnItKnows) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  const SimulatedFrames frames(random.next(0, 2));
  const auto whole = observer_of(frames, Nanoseconds{0}), late = observer_of(frames, std::chrono::milliseconds(35'200));
  EXPECT_EQ(reporting::report_text(whole->timeline(), {}).find("recorded from"), std::string::npos);
  const std::string text = reporting::report_text(late->timeline(), {});
  EXPECT_NE(text.find(" recorded from 35.20 s"), std::string::npos) << text;
}

}  // namespace
}  // namespace idlewave::cli
