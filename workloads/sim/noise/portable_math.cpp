#include "workloads/sim/noise/portable_math.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace idlewave::sim::noise {
namespace {

constexpr int kMantissaBits = 52;
constexpr int kBias = 1023;
constexpr int kIndexBits = 7;  // 128 slices of [1, 2)
constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kMantissaBits) - 1;
constexpr std::uint64_t kOne = std::uint64_t{kBias} << kMantissaBits;

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
// ln 2 in two parts, the first with so few bits that its product with an exponent is exact (Cody and Waite, 1980).
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

/// The middle of one slice of [1, 2).
struct Slice {
  double middle;
  double inverse;
  double log;
};

/// log c = 2 atanh((c - 1) / (c + 1)), by its series; computed by the compiler, which rounds as IEEE 754 says.
constexpr double log_of_middle(double c) {
  const double s = (c - 1) / (c + 1);
  double sum = 0;
  for (int odd = 41; odd >= 1; odd -= 2) sum = sum * s * s + 1.0 / odd;
  return 2 * s * sum;
}

constexpr auto kSlices = [] {
  std::array<Slice, std::size_t{1} << kIndexBits> slices{};
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const double middle = 1 + (static_cast<double>(i) + 0.5) / static_cast<double>(slices.size());
    slices[i] = {middle, 1 / middle, log_of_middle(middle)};
  }
  return slices;
}();

/// log(1 + r) for |r| <= 2^-8: its series to r^6; what is left out is below 2^-58.
double log_near_one(double r) {
  const double r2 = r * r;
  const double low = 1.0 / 3 - r * (1.0 / 4);
  const double high = 1.0 / 5 - r * (1.0 / 6);
  return r - r2 * 0.5 + r2 * r * (low + r2 * high);
}

/// e^r for |r| <= ln(2) / 2: its series to r^13; what is left out is below 2^-57.
double exp_near_zero(double r) {
  double sum = 1;
  for (int i = 13; i >= 1; --i) sum = 1 + sum * r / i;
  return sum;
}

}  // namespace

double portable_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<int>(bits >> kMantissaBits) - kBias;
  const Slice& slice = kSlices[(bits & kMantissaMask) >> (kMantissaBits - kIndexBits)];
  const double mantissa = std::bit_cast<double>((bits & kMantissaMask) | kOne);
  const double r = (mantissa - slice.middle) * slice.inverse;
  return exponent * kLn2 + (slice.log + log_near_one(r));
}

double portable_exp(double x) {
  if (x < -708) return 0;
  const auto exponent = static_cast<int>(x / kLn2 - 0.5);
  const double r = (x - exponent * kLn2High) - exponent * kLn2Low;
  return exp_near_zero(r) * std::bit_cast<double>(static_cast<std::uint64_t>(kBias + exponent) << kMantissaBits);
}

}  // namespace idlewave::sim::noise
