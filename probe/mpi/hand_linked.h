#pragma once

namespace idlewave::mpi {

/// The program, or a library that it has loaded, is linked with libidlewave-probe and will report by itself: known by
/// the note that the library carries (probe/client/precedence.h).
bool is_hand_linked();

}  // namespace idlewave::mpi
