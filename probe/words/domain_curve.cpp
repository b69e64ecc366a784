#include "probe/words/domain_curve.h"

#include <algorithm>

#include "probe/words/quantity.h"

namespace idlewave::words {
namespace {

constexpr std::string_view kUpTo = "..";
constexpr char kNext = ':';

wire::Result<DomainCurve> parse_two(std::string_view first, std::string_view second) {
  const auto core = parse_bandwidth(first);
  if (!core) return core.error();
  const auto saturated = parse_bandwidth(second);
  if (!saturated) return saturated.error();
  return DomainCurve{*core, *saturated, {}};
}

}  // namespace

wire::Result<DomainCurve> parse_domain_curve(std::string_view text) {
  if (const auto up_to = text.find(kUpTo); up_to != std::string_view::npos)
    return parse_two(text.substr(0, up_to), text.substr(up_to + kUpTo.size()));
  DomainCurve curve;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(kNext, from), text.size());
    const auto bandwidth = parse_bandwidth(text.substr(from, end - from));
    if (!bandwidth) return bandwidth.error();
    curve.curve.push_back(*bandwidth);
    from = end + 1;
  }
  curve.core = curve.curve.front();
  curve.saturated = std::ranges::max(curve.curve);
  return curve;
}

std::string exact_domain_curve(const DomainCurve& curve) {
  if (curve.curve.empty()) return exact_bandwidth(curve.core) + std::string(kUpTo) + exact_bandwidth(curve.saturated);
  std::string text;
  for (const double bandwidth : curve.curve) {
    if (!text.empty()) text += kNext;
    text += exact_bandwidth(bandwidth);
  }
  return text;
}

}  // namespace idlewave::words
