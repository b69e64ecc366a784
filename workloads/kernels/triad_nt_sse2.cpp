// Non-temporal stores with SSE2, which every x86-64 processor has.

#include <emmintrin.h>

#include <cstdint>

#include "workloads/kernels/stream.h"

namespace idlewave::kernels {

const bool kHasNonTemporalStores = true;

void triad_nt(std::span<double> a, std::span<const double> b, std::span<const double> c, double s) {
  const __m128d scale = _mm_set1_pd(s);
  std::size_t i = 0;
  // _mm_stream_pd wants 16-byte alignment: a double that stands before it is stored alone.
  if (reinterpret_cast<std::uintptr_t>(a.data()) % sizeof(__m128d) != 0 && !a.empty()) {
    a[0] = b[0] + s * c[0];
    i = 1;
  }
  for (; i + 2 <= a.size(); i += 2) {
    _mm_stream_pd(&a[i], _mm_add_pd(_mm_loadu_pd(&b[i]), _mm_mul_pd(scale, _mm_loadu_pd(&c[i]))));
  }
  if (i < a.size()) a[i] = b[i] + s * c[i];
  _mm_sfence();
}

}  // namespace idlewave::kernels
