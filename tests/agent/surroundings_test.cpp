// What an agent learns of its machine and of the way to a monitor.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "probe/agent/reach.h"
#include "probe/agent/topology.h"

namespace idlewave::agent {
namespace {

using testing::HasSubstr;

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
              HasSubstr("has not taken this agent in"));
  close(listener);
}

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

TEST(Topology, KnowsTheDomainOfAProcessor) {
  const Topology topology;
  for (const sampler::MachineDomain& domain : topology.domains())
    for (const int processor : domain.processors) EXPECT_EQ(topology.domain_of_processor(processor), domain.id);
  for (const int processor : {-1, 1 << 20}) EXPECT_EQ(topology.domain_of_processor(processor), wire::kNoDomain);
}

TEST(Topology, KnowsNoPlaceOfAProcessThatIsNot) { EXPECT_EQ(Topology().place_of(1 << 22).domain, wire::kNoDomain); }

}  // namespace
}  // namespace idlewave::agent
