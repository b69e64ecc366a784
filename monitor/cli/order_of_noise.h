#pragma once

#include <string_view>

#include "probe/wire/noise_order.h"
#include "probe/wire/result.h"

namespace idlewave::cli {

/// Noise to be ordered: what words::parse_order_of_noise reads, or `trace:FILE`, whose file is read and judged here, for no
/// rank opens any at a stranger's word. Error: one line.
wire::Result<wire::NoiseOrder> read_order_of_noise(std::string_view text);

}  // namespace idlewave::cli
