#pragma once
// A judge of causes that walks each chain of waits back on its own.

#include <functional>
#include <string>

#include "monitor/analysis/causes/causes.h"
#include "tests/analysis/wait_rules.h"

namespace idlewave::test {

/// The rank whose post ended a rank's wait in a step, and when that was.
using LastPost = std::function<std::pair<wire::Rank, wire::Nanoseconds>(wire::Rank, int)>;

/// Where ranks are known to have these partners.
analysis::causes::CauseGround ground_of(const timeline::Timeline& timeline, analysis::partners::Partners partners);

/// What a rank waited in all the steps that its lane has.
wire::Nanoseconds told_waits(const timeline::Timeline& timeline, wire::Rank rank);

/// Everything that was waited is somebody's, or nobody's, and what ranks cost is what others waited for them.
void expect_conserved(const timeline::Timeline& timeline, const analysis::causes::Causes& causes);

void expect_as_judged(const Table& table, const analysis::causes::Causes& causes, const LastPost& last,
                      const std::string& what);

/// Share of all waiting that the judge gives to another cause.
double share_given_to_others(const Table& table, const analysis::causes::Causes& causes, const LastPost& last);

}  // namespace idlewave::test
