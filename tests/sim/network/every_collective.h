#pragma once
// For tests that hold for each algorithm.

#include "workloads/sim/network/collectives.h"

namespace idlewave::sim::network {

inline constexpr Collective kAll[] = {Collective::kBarrier,
                                      Collective::kAllreduceDissemination,
                                      Collective::kAllreduceRecursiveDoubling,
                                      Collective::kAllreduceRing,
                                      Collective::kAllgatherRing,
                                      Collective::kAllgatherRecursiveDoubling,
                                      Collective::kAllgatherBruck,
                                      Collective::kAllgatherDissemination,
                                      Collective::kBroadcast,
                                      Collective::kReduce,
                                      Collective::kGather,
                                      Collective::kScatter};

}  // namespace idlewave::sim::network
