#pragma once
// Whether anybody else was at work on the processors that are measured.

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace idlewave::cli::calibration {

/// Of one processor since the machine was started, in ticks of the system. Busy is also what the system does itself.
struct ProcessorTime {
  double busy = 0;
  double stolen = 0;  ///< By whoever runs this virtual machine.
  double all = 0;
};

/// Processors by their numbers, and seconds of processor time that we, and programs of ours that have ended, took.
struct Moment {
  std::map<int, ProcessorTime> processors;
  double own_s = 0;
  double ticks_per_s = 100;
};

/// The lines "cpu0 ..." of /proc/stat; what can't be read is left out.
std::map<int, ProcessorTime> parse_processor_times(std::string_view stat);
Moment now_at_work();

/// Shares of the processors' time between two moments. 0 where the system does not say.
struct Others {
  double working = 0;  ///< That other programs took.
  double stolen = 0;
};
Others others_between(const Moment& from, const Moment& to, std::span<const int> processors);

/// "other programs took 40 % of the processors' time, load 2.1"; empty: nobody who would matter.
std::string who_disturbs(const Others& others);

}  // namespace idlewave::cli::calibration
