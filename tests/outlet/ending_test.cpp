// How a sender ends, and how it parts with those who listened.

#include <gmock/gmock.h>

#include <thread>

#include "probe/outlet/mailbox/mailbox.h"
#include "probe/outlet/outlet.h"
#include "tests/outlet/consumer.h"

namespace idlewave::outlet {
namespace {

using std::chrono::milliseconds;

TEST_F(OutletTest, TakesAnEndAckBeforeTheEndForAFarewell) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  consumer.hear<wire::Credit>();
  ASSERT_EQ(outlet->consumers(), 1);
  consumer.say(wire::EndAck{});
  EXPECT_TRUE(run_until([&] { consumer.turn(); }, [&] { return outlet->consumers() == 0; }));
}

TEST_F(OutletTest, NoticesAConsumerThatIsNoLongerConnected) {
  auto outlet = outlet_at(endpoint_);
  {
    Consumer consumer(*outlet, endpoint_);
    consumer.say(wire::Attach{wire::Role::kOperator, 100});
    consumer.hear<wire::Credit>();
    ASSERT_EQ(outlet->consumers(), 1);
  }
  EXPECT_TRUE(run_until([&] { outlet->serve(milliseconds(10)); }, [&] { return outlet->consumers() == 0; }));
}

/// The connection may be seen to be gone before its last message has been read.
TEST_F(OutletTest, ReadsTheFarewellOfAConsumerThatIsNoLongerConnected) {
  auto outlet = outlet_at(endpoint_);
  auto leaving = mailbox::Mailbox::open({.connect = endpoint_, .queue_messages = 10, .linger = milliseconds(500)});
  const auto serve = [&] { outlet->serve(milliseconds(1)); };
  const auto says = [&](decltype(wire::Frame::body) body) {
    return (*leaving)->send("", wire::encode({kSession, "", 0, std::move(body)})) == mailbox::Sent::kYes;
  };
  ASSERT_TRUE(run_until(serve, [&] { return says(wire::Attach{wire::Role::kOperator, 100}); }));
  ASSERT_TRUE(run_until(serve, [&] { return outlet->consumers() == 1; }));
  ASSERT_TRUE(says(wire::EndAck{}));
  leaving->reset();
  std::this_thread::sleep_for(milliseconds(50));
  outlet->send(events(1));
  EXPECT_TRUE(outlet->finish(milliseconds(0)));
}

TEST_F(OutletTest, FinishesWithoutAConsumerOnceItsPatienceIsOver) {
  auto outlet = outlet_at(endpoint_);
  outlet->send(events(1));
  EXPECT_TRUE(outlet->finish(milliseconds(50)));
}

TEST_F(OutletTest, FinishesAtOnceWhenEveryConsumerHasLeft) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 100});
  consumer.say(wire::EndAck{});
  EXPECT_TRUE(run_until([&] { consumer.turn(); }, [&] { return outlet->consumers() == 0; }));
  EXPECT_TRUE(outlet->finish(std::chrono::hours(1)));
}

TEST_F(OutletTest, DoesNotWaitForeverForAConsumerThatIsOnlyThere) {
  auto outlet = outlet_at(endpoint_);
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kOperator, 0});
  consumer.hear<wire::Credit>();
  for (int i = 0; i < 1000; ++i) consumer.say(wire::Credit{0});
  EXPECT_FALSE(outlet->finish(milliseconds(0)));
}

TEST_F(OutletTest, EndsWhileASpectatorTakesFrameAfterFrame) {
  auto outlet = outlet_at(endpoint_);
  for (int i = 1; i <= 1000; ++i) outlet->send(events(i));
  Consumer consumer(*outlet, endpoint_);
  consumer.say(wire::Attach{wire::Role::kSpectator, 0});
  consumer.hear<wire::Credit>();
  std::atomic<bool> over{false};
  std::thread dawdler([&] {
    while (!over) consumer.whisper(wire::Credit{1}), usleep(100'000);  // For a hundred seconds, were it heard.
  });
  EXPECT_TRUE(outlet->finish(milliseconds(0)));
  over = true;
  dawdler.join();
}

}  // namespace
}  // namespace idlewave::outlet
