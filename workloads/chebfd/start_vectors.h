#pragma once
// What the filter is applied to, made of the numbers of row and vector alone, and what must come out.

#include <vector>

#include "workloads/chebfd/figures.h"
#include "workloads/chebfd/filter.h"
#include "workloads/chebfd/insulator.h"
#include "workloads/chebfd/options.h"

namespace idlewave::chebfd {

/// The first vector of each block is a plane wave, where there are any; all others are random.
class StartVectors {
 public:
  explicit StartVectors(const Options& options);

  bool is_wave(int vector) const { return waves_ && vector % block_ == 0; }
  Complex element(Index row, int vector) const;

  const Wave& wave(int vector) const { return wave_[std::size_t(vector / block_)]; }

 private:
  Insulator insulator_;
  int block_;
  bool waves_;
  std::vector<Wave> wave_;  ///< By block.
};

/// Sums over a rank's rows of filtered blocks that hold f(H) against what it must be.
class Checks {
 public:
  Checks(const Options& options, const Filter& filter);

  /// A block as it came out, from its vector `first` on; rows from `first_row` on, elements of a row side by side.
  void add(const StartVectors& start, Index first_row, std::size_t rows, int first, const Complex* filtered);

  /// To be added up over ranks, or of which the largest counts.
  std::vector<double>& sums() { return sums_; }
  double& wave_error() { return wave_error_; }

  /// When both have been.
  Errors errors() const;

 private:
  enum : std::size_t { kLeftRe, kLeftIm, kRightRe, kRightIm, kFirst, kSecond, kSums };

  const Filter& filter_;
  int block_;
  bool waves_;
  std::vector<double> sums_;  ///< kSums for each block.
  double wave_error_ = 0;
};

}  // namespace idlewave::chebfd
