#pragma once
// Runs a GOAL schedule on a LogGOPS network.

#include <string>

#include "probe/wire/result.h"
#include "workloads/sim/network/goal_options.h"
#include "workloads/sim/network/goal_schedule.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// "rank 3 waits for 8 B from rank 1, tag 7, and no such message comes": one line.
std::string describe(const Stuck& stuck);

/// Each rank finishes at the same nanosecond as in LogGOPSim (https://github.com/spcl/LogGOPSim; Hoefler, Schneider,
/// Lumsdaine: "LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model", LSAP 2010), whose rules are, with
/// a message of s bytes and all of it in whole nanoseconds:
///   send:    begins when its cpu and its nic's sending side are free, at t. Occupies the cpu until t + o + (s-1) O and
///            the nic until t + g + (s-1) G. Its first byte arrives at t + o + L.
///   arrival: begins when the receiver's cpu and its nic's receiving side, of the numbers that the *send* gives, are
///            free, at t. Occupies the cpu until t + o + (s-1) max(O, G) and the nic until t + g + (s-1) G.
///   receive: costs nothing; ends at its post or at the message's arrival, whichever is later.
///   s <= S:  the send ends as it begins. s > S: when the receive is posted and the message has arrived, and the
///            sender's cpu and nic are not free before.
/// What waits for an operation becomes ready as it begins (a receive: as it ends) and then waits for its own cpu and
/// nic; it does not wait for the *other* cpus of its rank. A message of 0 bytes is charged -1 bytes, as there.
/// G and O are rounded to whole nanoseconds a byte when they are within a millionth of that; otherwise (s-1) G and
/// (s-1) O are rounded down.
///
/// Two differences, where LogGOPSim does what nobody can have meant. Of a receive whose size is not the message's, the
/// message's decides on the protocol; there the receive's does if the message was there first, so that a send never
/// ends, or what waits for it goes on twice. A clock that 0 bytes take below 0 is negative; there it is 2^64 ns later.
///
/// On memory domains a calculation of N ns is work that takes as long on a processor that has its domain to itself;
/// n that run on a domain at once advance each at speed[n]. Its end is rounded up to whole nanoseconds, and as long as
/// it runs, its processor is not free. Where speed is 1, all is as without domains, to the nanosecond. (Where ranks
/// have several processors, a calculation may begin before others of its domain that were dealt with already, by the
/// rule above; it has then had the memory to itself up to the last begin or end there.)
///
/// Under noise, calculation k of a rank that ends at e ends after(rank, k, begin, e) later, at the nearest nanosecond,
/// and draws no bandwidth meanwhile. Noise that comes at moments of time also interrupts messages: what would occupy a
/// cpu from t on, a receive apart, begins at free_from(rank, t) instead, and the cpu's time for a send or an arrival is
/// longer by after(). As in LogGOPSim the first byte of a message leaves nonetheless at t + o, and nics know no noise;
/// unlike there, what is left of an interruption moves the begin (in LogGOPSim it makes the operation longer, and a
/// message leaves in the midst of it), and all interruptions count that begin before the operation is over (there: of a
/// message only those within o, and none within the time that another one took).
///
/// Cost: a byte an operation beyond the schedule, 96 a rank, and what is under way: 18 an event, 12 a message; with
/// memory or noise 72 more a processor. Time: n log n, however many operations wait for one processor; only messages
/// without a receive, and receives without a message, are looked through one by one. Error: parameters that are negative
/// or not finite; a run that may last longer than 2^62 ns (2^61 with memory or noise); start_ns of wrong size; domains
/// without ranks, or with a speed missing or beyond SharedMemory's limits.
wire::Result<GoalRun> run(const GoalSchedule& schedule, const support::LogGops& network,
                          const GoalOptions& options = {});

}  // namespace idlewave::sim::network
