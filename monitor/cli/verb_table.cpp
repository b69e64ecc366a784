#include "monitor/cli/verb_table.h"

#include <array>
#include <vector>

#include "probe/arguments/suggestion.h"

namespace idlewave::cli {

std::span<const Verb> verb_table() {
  static constexpr std::array kTable = {
      Verb{"demo", "Start a lesson: real MPI ranks, the live monitor, and what to look for"},
      Verb{"run", "Start an MPI program under the monitor: idlewave run -- mpirun -n 8 ./a.out"},
      Verb{"attach", "Join a session that is already running; without a name: list what runs here"},
      Verb{"record", "Record without a screen: a program that it starts, or a session that runs"},
      Verb{"carry", "What --over and --agents-over start on the other side, to speak over standard streams"},
      Verb{"inject", "Hold ranks of a running session, as the keys do"},
      Verb{"replay", "Play a recorded session"},
      Verb{"report", "What happened in a recorded session"},
      Verb{"info", "What is in a session file"},
      Verb{"sim", "Simulate a scenario, a schedule, or the program of a recorded session"},
      Verb{"study", "Simulate a scenario with many values and draw what comes out"},
      Verb{"theory", "Work out a formula of the papers, with their figures or yours"},
      Verb{"calibrate", "Measure memory bandwidth over the number of cores, and where it saturates"},
      Verb{"doctor", "What works here, what does not, and how to mend it"},
      Verb{"agent", "Collect what the ranks of a node report; started when the first of them begins"},
  };
  return kTable;
}

std::string verb_meant_by(const std::string& name) {
  std::vector<std::string> names;
  for (const Verb& verb : verb_table()) names.emplace_back(verb.name);
  return arguments::did_you_mean(name, names);
}

}  // namespace idlewave::cli
