#include "probe/sampler/virtual_sockets.h"

#include <gmock/gmock.h>

namespace idlewave::sampler {
namespace {

Nanoseconds ms(std::int64_t count) { return std::chrono::milliseconds(count); }

TEST(VirtualSockets, TellWhatTheModelMovedSinceTheFigureBefore) {
  VirtualSockets sockets;
  sockets.observe_model(2, 1000);
  sockets.begin(2, ms(0));
  sockets.observe_model(2, 1700);
  EXPECT_EQ(sockets.sample(2, ms(199)), std::nullopt);
  EXPECT_EQ(sockets.sample(2, ms(200)), 700u);
  EXPECT_EQ(sockets.sample(2, ms(399)), std::nullopt);
  EXPECT_EQ(sockets.sample(2, ms(400)), 0u);
}

TEST(VirtualSockets, NeverTellsBytesThatMovedBack) {
  VirtualSockets sockets;
  sockets.observe_model(0, 1000);
  sockets.begin(0, ms(0));
  sockets.observe_model(0, 1500);
  sockets.observe_model(0, 20);  // a second program made the socket anew
  EXPECT_LE(*sockets.sample(0, ms(200)), 500u);
  sockets.observe_model(0, 120);
  EXPECT_EQ(sockets.sample(0, ms(400)), 100u);
}

TEST(VirtualSockets, AreReadyForVirtualSocketsThatWereSeen) {
  VirtualSockets sockets;
  sockets.observe_model(1, 0);
  EXPECT_TRUE(sockets.standing({.id = 1, .is_virtual = true}, ms(0)).ready);
  EXPECT_FALSE(sockets.standing({.id = 1, .is_virtual = false}, ms(0)).ready);
  EXPECT_FALSE(sockets.standing({.id = 0, .is_virtual = true}, ms(0)).ready);
}

}  // namespace
}  // namespace idlewave::sampler
