#include "workloads/chebfd/insulator.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/sparse/hash.h"

namespace idlewave::chebfd {
namespace {

using Site = std::array<int, 3>;
using Block = std::array<std::array<Complex, kOrbitals>, kOrbitals>;

constexpr Complex kI{0, 1};

/// G2, G3, G4: tau_x and a Pauli matrix, which together have one element in each row.
Complex spin(int direction, int row, int column) {
  if ((row < 2) == (column < 2)) return 0;
  const int up = row % 2, down = column % 2;
  switch (direction) {
    case 0: return up != down ? 1 : 0;
    case 1: return up == down ? Complex{0} : up == 0 ? -kI : kI;
    default: return up != down ? 0 : up == 0 ? 1 : -1;
  }
}

double mass(int row, int column) { return row != column ? 0 : row < 2 ? 1 : -1; }

/// From a site to the next one along `direction`; its adjoint leads back.
Complex hop(int direction, int row, int column, bool back) {
  const Complex turn = kI * spin(direction, row, column);
  return -0.5 * (mass(row, column) + (back ? turn : -turn));
}

Site site_at(const Insulator& insulator, Index number) {
  const auto [x, y, z] = insulator.size;
  return {int(number / z / y), int(number / z % y), int(number % z)};
}

Index number_of(const Insulator& insulator, const Site& site) {
  return (Index{site[0]} * insulator.size[1] + site[1]) * insulator.size[2] + site[2];
}

Index neighbour(const Insulator& insulator, Site site, std::size_t direction, int by) {
  const int size = insulator.size[direction];
  site[direction] = (site[direction] + by + size) % size;
  return number_of(insulator, site);
}

double potential(const Insulator& insulator, Index site) {
  return insulator.disorder * (sparse::unit(sparse::hash(insulator.seed, std::uint64_t(site))) - 0.5);
}

/// Along a side of one or two sites both neighbours are the same.
void add_up(std::vector<Element>& elements, std::size_t first) {
  const auto begin = elements.begin() + std::ptrdiff_t(first);
  std::sort(begin, elements.end(), [](const Element& a, const Element& b) { return a.column < b.column; });
  auto end = begin;
  for (auto each = begin; each != elements.end(); ++each) {
    if (end != begin && (end - 1)->column == each->column)
      (end - 1)->value += each->value;
    else
      *end++ = *each;
  }
  elements.erase(end, elements.end());
}

}  // namespace

Index sites_of(const Insulator& insulator) { return Index{insulator.size[0]} * insulator.size[1] * insulator.size[2]; }

Index rows_of(const Insulator& insulator) { return sites_of(insulator) * kOrbitals; }

void append_row(const Insulator& insulator, Index row, std::vector<Element>& out) {
  const std::size_t first = out.size();
  const Index own = row / kOrbitals;
  const int orbital = int(row % kOrbitals);
  const Site site = site_at(insulator, own);
  out.push_back({row, potential(insulator, own) + 2 * mass(orbital, orbital)});
  for (std::size_t direction = 0; direction < 3; ++direction) {
    for (const int by : {-1, 1}) {
      const Index other = neighbour(insulator, site, direction, by);
      for (int column = 0; column < kOrbitals; ++column)
        if (const Complex value = hop(int(direction), orbital, column, by > 0); value != Complex{0})
          out.push_back({other * kOrbitals + column, value});
    }
  }
  add_up(out, first);
}

double largest_energy(const Insulator& insulator) { return 5 + insulator.disorder / 2; }

Wave wave_of(const Insulator& insulator, Index number, bool above_zero) {
  Wave wave;
  const Site at = site_at(insulator, number);
  double m = 2, square = 0;
  for (std::size_t j = 0; j < 3; ++j) {
    wave.k[j] = 2 * std::numbers::pi * at[j] / insulator.size[j];
    m -= std::cos(wave.k[j]);
    square += std::sin(wave.k[j]) * std::sin(wave.k[j]);
  }
  wave.energy = (above_zero ? 1 : -1) * std::sqrt(m * m + square);
  // A column of H(k) + E is an eigenvector; that one where nothing cancels.
  const int column = m * wave.energy >= 0 ? 0 : 2;
  double length = 0;
  for (int row = 0; row < kOrbitals; ++row) {
    Complex& element = wave.spinor[std::size_t(row)];
    element = m * mass(row, column) + (row == column ? wave.energy : 0);
    for (int j = 0; j < 3; ++j) element += std::sin(wave.k[std::size_t(j)]) * spin(j, row, column);
    length += std::norm(element);
  }
  for (Complex& element : wave.spinor) element /= std::sqrt(length);
  return wave;
}

Complex element_of(const Wave& wave, const Insulator& insulator, Index row) {
  const Site site = site_at(insulator, row / kOrbitals);
  double phase = 0;
  for (std::size_t j = 0; j < 3; ++j) phase += std::fmod(wave.k[j] * site[j], 2 * std::numbers::pi);
  return wave.spinor[std::size_t(row % kOrbitals)] * std::polar(1.0, phase);
}

}  // namespace idlewave::chebfd
