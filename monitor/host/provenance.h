#pragma once
// Who recorded: version, machine and command line for the header of a session file.

#include <string>

#include "probe/wire/frame_log.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::host {

std::string machine_description();  ///< Host name, processor, number of processors.
std::string own_command_line();
/// For a recording of `session` that begins now.
wire::FrameLogHeader recording_header(const std::string& session);

}  // namespace idlewave::host
