// Noise that ends when the operator goes who gave it.

#include <gmock/gmock.h>

#include "tests/outlet/consumer.h"

namespace idlewave::outlet {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NoiseGiven : public OutletTest {};

/// Of all ranks, until its giver goes.
wire::Command noise_while_there(wire::CommandId id, std::vector<wire::Rank> ranks = {}) {
  return {id, std::move(ranks), wire::NoiseOrder{.amount = milliseconds(1), .ends_with_giver = true}};
}

wire::Command end_of_noise(wire::CommandId id, std::vector<wire::Rank> ranks = {}) {
  return {id | wire::kEndsNoise, std::move(ranks), wire::ClearOrder{id}};
}

/// The operator says these, and goes when they have been taken; what comes of it.
std::vector<wire::Command> left_by_one_who_said(Outlet& outlet, Consumer& consumer, std::vector<wire::Command> said) {
  for (const wire::Command& command : said) consumer.say(command);
  EXPECT_TRUE(run_until([&] { consumer.turn(); }, [&] { return consumer.commands.size() == said.size(); }));
  consumer.say(wire::EndAck{});
  EXPECT_TRUE(run_until([&] { consumer.turn(); }, [&] { return outlet.consumers() == 0; }));
  return {consumer.commands.begin() + std::ptrdiff_t(said.size()), consumer.commands.end()};
}

TEST_F(NoiseGiven, EndsTheNoiseOfAnOperatorWhoGoesAndNoOther) {
  const wire::Command to_stay{8, {7}, wire::NoiseOrder{.amount = milliseconds(1)}};
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  EXPECT_THAT(left_by_one_who_said(*outlet, consumer, {noise_while_there(7, {5}), to_stay, noise_while_there(9, {6})}),
              ElementsAre(end_of_noise(7, {5}), end_of_noise(9, {6})));
}

TEST_F(NoiseGiven, HasNothingToEndOfNoiseThatIsOver) {
  auto outlet = outlet_at(endpoint_);
  for (const auto& over :
       {wire::Command{8, {}, wire::ClearOrder{}}, wire::Command{9, {}, wire::ClearOrder{7}},
        wire::Command{9, {5}, wire::ClearOrder{}}, wire::Command{9, {}, wire::NoiseOrder{.amount = milliseconds(2)}}}) {
    Consumer consumer(*outlet, endpoint_);
    consumer.say(wire::Attach{wire::Role::kOperator, 100});
    EXPECT_THAT(left_by_one_who_said(*outlet, consumer, {noise_while_there(7, {5}), over}), IsEmpty());
  }
}

TEST_F(NoiseGiven, EndsTheNoiseOfAnOperatorWhoseConnectionBreaks) {
  auto outlet = outlet_at(endpoint_);
  auto operator_that_breaks = std::make_unique<Consumer>(*outlet, endpoint_);
  operator_that_breaks->say(wire::Attach{wire::Role::kOperator, 100});
  operator_that_breaks->say(noise_while_there(7));
  EXPECT_TRUE(
      run_until([&] { operator_that_breaks->turn(); }, [&] { return !operator_that_breaks->commands.empty(); }));
  operator_that_breaks.reset();
  Consumer other(*outlet, endpoint_);
  EXPECT_TRUE(run_until([&] { other.turn(); }, [&] { return !other.commands.empty(); }));
  EXPECT_THAT(other.commands, ElementsAre(end_of_noise(7)));
}

}  // namespace
}  // namespace idlewave::outlet
