#include "probe/machine/memory.h"

#include <fstream>

namespace idlewave::machine {

void be_first_without_memory() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

}  // namespace idlewave::machine
