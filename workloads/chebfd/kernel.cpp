#include "workloads/chebfd/kernel.h"

#include <array>

namespace idlewave::chebfd {
namespace {

constexpr double kFlopsOfNonzero = 8, kFlopsOfRow = 42;
constexpr double kBytesOfNonzero = sizeof(Complex) + sizeof(std::int32_t), kBytesOfRow = 5 * sizeof(Complex);

/// Real and imaginary parts: the compiler knows of these what it may not assume of std::complex.
struct Pair {
  double re = 0, im = 0;
};

/// (alpha H + beta) x of one row, for vectors [0, count) of `stride`.
template <std::size_t kCount>
[[gnu::always_inline]] inline void multiply_row(const ComplexCrs& h, const Scale& scale, std::size_t row,
                                                std::size_t stride, const double* x, std::array<Pair, kCount>& sum) {
  const double* own = x + 2 * row * stride;
  for (std::size_t v = 0; v < kCount; ++v) sum[v] = {scale.beta * own[2 * v], scale.beta * own[2 * v + 1]};
  for (std::size_t i = h.start[row]; i < h.start[row + 1]; ++i) {
    const Pair a{scale.alpha * h.value[i].real(), scale.alpha * h.value[i].imag()};
    const double* other = x + 2 * std::size_t(h.column[i]) * stride;
    for (std::size_t v = 0; v < kCount; ++v) {
      sum[v].re += a.re * other[2 * v] - a.im * other[2 * v + 1];
      sum[v].im += a.re * other[2 * v + 1] + a.im * other[2 * v];
    }
  }
}

template <std::size_t kCount>
void spmmv_columns(const ComplexCrs& h, const Scale& scale, const sparse::Range& rows, std::size_t stride,
                   const double* x, double* u) {
  std::array<Pair, kCount> sum;
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    multiply_row<kCount>(h, scale, row, stride, x, sum);
    double* out = u + 2 * row * stride;
    for (std::size_t v = 0; v < kCount; ++v) out[2 * v] = sum[v].re, out[2 * v + 1] = sum[v].im;
  }
}

template <std::size_t kCount>
void chebfd_columns(const ComplexCrs& h, const Scale& scale, double coefficient, const sparse::Range& rows,
                    std::size_t stride, const double* u, double* w, double* x, double* eta, double* mu) {
  std::array<Pair, kCount> sum;
  std::array<double, kCount> etas{}, mus{};
  const Scale twice{2 * scale.alpha, 2 * scale.beta};
  for (std::size_t row = rows.begin; row < rows.end; ++row) {
    multiply_row<kCount>(h, twice, row, stride, u, sum);
    const double* own = u + 2 * row * stride;
    double* its_w = w + 2 * row * stride;
    double* its_x = x + 2 * row * stride;
    for (std::size_t v = 0; v < kCount; ++v) {
      const Pair next{sum[v].re - its_w[2 * v], sum[v].im - its_w[2 * v + 1]};
      its_w[2 * v] = next.re, its_w[2 * v + 1] = next.im;
      etas[v] += next.re * own[2 * v] + next.im * own[2 * v + 1];
      mus[v] += own[2 * v] * own[2 * v] + own[2 * v + 1] * own[2 * v + 1];
      its_x[2 * v] += coefficient * next.re;
      its_x[2 * v + 1] += coefficient * next.im;
    }
  }
  for (std::size_t v = 0; v < kCount; ++v) eta[v] += etas[v], mu[v] += mus[v];
}

/// Calls work.operator()<count>(first) for columns of blocks that the compiler has unrolled.
template <class Work>
void in_columns(std::size_t vectors, Work work) {
  std::size_t first = 0;
  const auto take = [&]<std::size_t kCount>() {
    for (; vectors - first >= kCount; first += kCount) work.template operator()<kCount>(first);
  };
  take.template operator()<32>();
  take.template operator()<16>();
  take.template operator()<8>();
  take.template operator()<4>();
  take.template operator()<2>();
  take.template operator()<1>();
}

/// An array of std::complex is one of their parts (C++ standard, complex.numbers).
const double* parts_of(const Complex* values) { return reinterpret_cast<const double*>(values); }
double* parts_of(Complex* values) { return reinterpret_cast<double*>(values); }

}  // namespace

wire::Result<Part> part_of(const Insulator& insulator, const sparse::Bounds& bounds, std::size_t number) {
  Part part;
  sparse::Rows rows;
  rows.first = bounds[number];
  std::vector<Element> elements;
  for (Index row = bounds[number]; row < bounds[number + 1]; ++row) {
    elements.clear();
    append_row(insulator, row, elements);
    for (const Element& element : elements) {
      rows.entries.push_back({element.column, 0});
      part.matrix.value.push_back(element.value);
    }
    rows.start.push_back(rows.entries.size());
  }
  part.halo = sparse::halo_of(rows, bounds);
  if (!sparse::fits(rows, part.halo)) return wire::Error{"a rank has more than 2147483647 elements; start more ranks"};
  sparse::Crs places = sparse::whole(rows, part.halo);
  part.matrix.start = std::move(places.start);
  part.matrix.column = std::move(places.column);
  return part;
}

void spmmv(const ComplexCrs& h, const Scale& scale, const sparse::Range& rows, std::size_t vectors, const Complex* x,
           Complex* u) {
  in_columns(vectors, [&]<std::size_t kCount>(std::size_t first) {
    spmmv_columns<kCount>(h, scale, rows, vectors, parts_of(x + first), parts_of(u + first));
  });
}

void chebfd_op(const ComplexCrs& h, const Scale& scale, double coefficient, const sparse::Range& rows,
               std::size_t vectors, const Complex* u, Complex* w, Complex* x, Moments& sums) {
  in_columns(vectors, [&]<std::size_t kCount>(std::size_t first) {
    chebfd_columns<kCount>(h, scale, coefficient, rows, vectors, parts_of(u + first), parts_of(w + first),
                           parts_of(x + first), sums.eta.data() + first, sums.mu.data() + first);
  });
}

double flops_of(const ComplexCrs& h, std::size_t vectors) {
  return double(vectors) * (kFlopsOfNonzero * double(h.nonzeros()) + kFlopsOfRow * double(h.rows()));
}

double bytes_of(const ComplexCrs& h, std::size_t vectors) {
  return kBytesOfNonzero * double(h.nonzeros()) + kBytesOfRow * double(vectors) * double(h.rows());
}

}  // namespace idlewave::chebfd
