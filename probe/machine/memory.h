#pragma once
// What becomes of us where the memory of a machine, or of a job, ends.

namespace idlewave::machine {

/// This process, and what it starts from now on, is what the kernel ends first: ranks that had had enough without us go on.
/// Nothing is changed where the kernel does not let us.
void be_first_without_memory();

}  // namespace idlewave::machine
