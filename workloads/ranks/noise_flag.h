#pragma once
// Noise as our MPI programs take it on their command lines.

#include <string>
#include <string_view>

#include "probe/arguments/command_line.h"
#include "probe/wire/result.h"
#include "workloads/support/noise_trace.h"
#include "workloads/support/scenario.h"

namespace idlewave::ranks {

using support::NoiseDistribution;

/// `exp:0.5ms`, `periodic:2.5ms@10Hz`, `system`, `daemon`, `checkpoint` or `trace:FILE`.
wire::Result<NoiseDistribution> parse_distribution(std::string_view text);

/// What parse_distribution reads, in a sentence for a help.
std::string_view accepted_noise();

/// Adds --noise and --seed. `help` stands beside --noise; {} in it: what is accepted.
void add_noise(arguments::CommandLine& app, support::Noise& noise, std::string_view help);

/// Adds --seed alone.
void add_seed(arguments::CommandLine& app, std::uint64_t& seed);

/// The trace that `noise` asks for, whose path is from the folder in which the program runs. Error: the reader's.
wire::Status take_noise_trace(const support::Noise& noise, support::NoiseTrace& trace);

}  // namespace idlewave::ranks
