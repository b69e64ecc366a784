#pragma once
// The loops of algorithm 1 of afzal-2020 on blocks of vectors, whose elements of one row stand side by side.

#include <cstddef>
#include <span>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/chebfd/insulator.h"
#include "workloads/sparse/halo.h"
#include "workloads/sparse/kernel.h"
#include "workloads/sparse/partition.h"

namespace idlewave::chebfd {

/// A part of the matrix as compressed rows. Columns are places in the vector of the rank with its halo.
struct ComplexCrs {
  std::vector<std::size_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<Complex> value;

  std::size_t rows() const { return start.size() - 1; }
  std::size_t nonzeros() const { return column.size(); }
};

/// One part of `bounds`, and what it needs of others.
struct Part {
  ComplexCrs matrix;
  sparse::Halo halo;
};

/// A rank's rows. Error: more elements than 32 bits can number.
wire::Result<Part> part_of(const Insulator& insulator, const sparse::Bounds& bounds, std::size_t number);

/// Elements of `vectors` vectors: own rows, then, where there is room for it, those of the halo.
using BlockVectors = std::vector<Complex>;

/// Of each vector of a block, summed over some rows.
struct Moments {
  std::vector<double> eta;  ///< <W, U>
  std::vector<double> mu;   ///< <U, U>
};

/// What the loops have to know of the filter: W <- 2 (alpha H + beta) U - W.
struct Scale {
  double alpha = 1;
  double beta = 0;
};

/// U <- (alpha H + beta) X, of some rows. X with its halo.
void spmmv(const ComplexCrs& h, const Scale& scale, const sparse::Range& rows, std::size_t vectors, const Complex* x,
           Complex* u);

/// CHEBFD_OP, of some rows: W <- 2 (alpha H + beta) U - W; eta += <W, U>; mu += <U, U>; X <- X + coefficient W, each
/// element touched once. U with its halo.
void chebfd_op(const ComplexCrs& h, const Scale& scale, double coefficient, const sparse::Range& rows,
               std::size_t vectors, const Complex* u, Complex* w, Complex* x, Moments& sums);

/// Floating-point operations of chebfd_op: 8 for each nonzero and 42 for each row, for each vector; with 13 nonzeros in a
/// row these are the paper's 146.
double flops_of(const ComplexCrs& h, std::size_t vectors);

/// Bytes that chebfd_op moves if each element of the vectors comes from memory once: 20 for each nonzero, and 80 for each
/// row and vector; eq. 3.
double bytes_of(const ComplexCrs& h, std::size_t vectors);

}  // namespace idlewave::chebfd
