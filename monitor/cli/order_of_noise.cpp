#include "monitor/cli/order_of_noise.h"

#include <fmt/format.h>

#include <utility>

#include "probe/words/noise.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::cli {
namespace {

using wire::Error;

constexpr std::size_t kMostBytes = 4'000'000;  ///< So that a screen does not stand still; more than kMaxDetours take.

wire::Result<wire::NoiseOrder> read_trace(std::string_view file) {
  if (file.empty()) return Error{"\"trace:\" names no file; write trace:noise.txt"};
  auto trace =
      support::read_noise_trace(file, kMostBytes, "give the path of a noise trace, as iw-selfish --trace writes it");
  if (!trace) return trace.error();
  wire::NoiseOrder order = words::order_of_trace(file, std::move(*trace));
  if (const auto possible = words::check_order(order); !possible)
    return Error{fmt::format("{}: {}", file, possible.error().message)};
  return order;
}

}  // namespace

wire::Result<wire::NoiseOrder> read_order_of_noise(std::string_view text) {
  if (words::names_trace(text)) return read_trace(words::file_of_trace(text));
  auto order = words::parse_order_of_noise(text);
  if (!order) return Error{fmt::format("{}; or trace:FILE", order.error().message)};
  return order;
}

}  // namespace idlewave::cli
