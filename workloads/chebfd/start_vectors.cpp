#include "workloads/chebfd/start_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "workloads/sparse/hash.h"

namespace idlewave::chebfd {
namespace {

bool has_waves(const Options& options) { return options.insulator.disorder == 0; }

double random_part(std::uint64_t hashed) { return 2 * sparse::unit(hashed) - 1; }

/// Of an error that is no number nothing is known but that it is one.
double larger(double error, double other) {
  return std::isnan(other) ? std::numeric_limits<double>::infinity() : std::max(error, other);
}

}  // namespace

StartVectors::StartVectors(const Options& options)
    : insulator_(options.insulator), block_(options.block), waves_(has_waves(options)) {
  for (int block = 0; waves_ && block < options.blocks(); ++block) {
    const auto number = sparse::hash(insulator_.seed, std::uint64_t(block)) % std::uint64_t(sites_of(insulator_));
    wave_.push_back(wave_of(insulator_, Index(number), block % 2 == 0));
  }
}

Complex StartVectors::element(Index row, int vector) const {
  if (is_wave(vector)) return element_of(wave(vector), insulator_, row);
  const std::uint64_t hashed = sparse::hash(sparse::hash(insulator_.seed, ~std::uint64_t(vector)), std::uint64_t(row));
  return {random_part(hashed), random_part(sparse::hash(hashed))};
}

Checks::Checks(const Options& options, const Filter& filter)
    : filter_(filter),
      block_(options.block),
      waves_(has_waves(options)),
      sums_(options.block > 1 ? std::size_t(options.blocks()) * kSums : 0) {}

void Checks::add(const StartVectors& start, Index first_row, std::size_t rows, int first, const Complex* filtered) {
  const double factor = start.is_wave(first) ? passed(filter_, start.wave(first).energy) : 0;
  double* sums = sums_.empty() ? nullptr : sums_.data() + std::size_t(first / block_) * kSums;
  if (sums) std::fill_n(sums, std::size_t(kSums), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    const Complex* out = filtered + row * std::size_t(block_);
    const Complex x = start.element(first_row + Index(row), first);
    if (start.is_wave(first)) wave_error_ = larger(wave_error_, std::abs(out[0] - factor * x));
    if (!sums) continue;
    const Complex y = start.element(first_row + Index(row), first + 1);
    const Complex left = std::conj(out[0]) * y, right = std::conj(x) * out[1];
    sums[kLeftRe] += left.real(), sums[kLeftIm] += left.imag();
    sums[kRightRe] += right.real(), sums[kRightIm] += right.imag();
    sums[kFirst] += std::norm(x), sums[kSecond] += std::norm(y);
  }
}

Errors Checks::errors() const {
  Errors errors;
  if (waves_) errors.wave = wave_error_;
  for (std::size_t block = 0; block < sums_.size(); block += kSums) {
    const double* sums = sums_.data() + block;
    const double off = std::hypot(sums[kLeftRe] - sums[kRightRe], sums[kLeftIm] - sums[kRightIm]);
    errors.symmetry = larger(errors.symmetry.value_or(0), off / std::sqrt(sums[kFirst] * sums[kSecond]));
  }
  return errors;
}

}  // namespace idlewave::chebfd
