#pragma once
// libzmq ends the whole process where it gets no descriptor or thread. So we ask for them first.

#include "probe/wire/result.h"

namespace idlewave::mailbox {

/// One line if what a mailbox needs can't be had now. Somebody else may take it a moment later; that we can't mend.
wire::Status check_resources();

}  // namespace idlewave::mailbox
