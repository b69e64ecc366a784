#pragma once
// Names that nobody has yet.

#include <string>

#include "probe/wire/vocabulary.h"

namespace idlewave::host {

/// Of somebody's text what a file in this folder, or a session, may be called: letters, digits, '-', '_' and '.'. Empty if
/// nothing of it may.
std::string plain_name(const std::string& text);

/// A session's name that is not in use: "<stem>-<pid>".
std::string new_session_name(const std::string& stem);

/// `stem` + ".iw", or with -2, -3, ... before the dot if it exists.
std::string free_file_name(const std::string& stem, const std::string& extension);

/// Not given to any other command, as good as certainly.
wire::CommandId new_command_id();

}  // namespace idlewave::host
