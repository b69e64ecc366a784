#pragma once
// A small file that a user names, read whole.

#include <cstddef>
#include <filesystem>
#include <string>

#include "probe/wire/result.h"

namespace idlewave::support {

/// Error, one line that ends with `wanted` ("give the path of ..."): it can't be read, is no regular file (a device has
/// no end, a pipe may never begin), or holds more than `most` bytes.
wire::Result<std::string> read_input_file(const std::filesystem::path& path, std::size_t most, std::string_view wanted);

}  // namespace idlewave::support
