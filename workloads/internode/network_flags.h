#pragma once
// The network as command lines give it.

#include "probe/arguments/command_line.h"
#include "probe/wire/result.h"
#include "probe/words/choice.h"
#include "workloads/theory/exchange.h"

namespace idlewave::internode {

enum class NetworkKind { kReal, kVirtual };
inline constexpr words::Choices<NetworkKind, 2> kNetworks{
    {{"real", NetworkKind::kReal}, {"virtual", NetworkKind::kVirtual}}};

/// That of the lecture's machine, slower by so much that what it takes is far above what a laptop adds.
inline constexpr double kSlower = 10;
theory::NodeNetwork slow_sr8000();

struct Network {
  NetworkKind kind = NetworkKind::kReal;
  theory::NodeNetwork model = slow_sr8000();  ///< kVirtual.
};

void add_network(arguments::CommandLine& app, Network& network);

/// After the line was parsed.
wire::Status check_network(const arguments::CommandLine& app, const Network& network);

}  // namespace idlewave::internode
