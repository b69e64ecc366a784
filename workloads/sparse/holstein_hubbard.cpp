#include "workloads/sparse/holstein_hubbard.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>

namespace idlewave::sparse {
namespace {

/// As a double: exact where it is below 2^53, and never overflows.
double binomial(int n, int k) {
  double value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return std::round(value);
}

struct Hop {
  int to = 0;
  double sign = 0;
};

/// The states of some electrons of one spin on a ring, in ascending order as numbers whose bit i says whether site i is
/// taken; and where each may hop.
class Spin {
 public:
  Spin(int sites, int electrons) {
    for (std::uint32_t state = 0; state < (1U << sites); ++state)
      if (std::popcount(state) == electrons) states_.push_back(state);
    for (const std::uint32_t state : states_) hops_.push_back(hops_from(state, sites));
  }

  int size() const { return static_cast<int>(states_.size()); }
  std::uint32_t state(int number) const { return states_[static_cast<std::size_t>(number)]; }
  const std::vector<Hop>& hops(int number) const { return hops_[static_cast<std::size_t>(number)]; }

 private:
  /// A hop passes over the electrons between both sites, and each gives it a sign.
  std::vector<Hop> hops_from(std::uint32_t state, int sites) const {
    std::vector<Hop> hops;
    const int bonds = sites > 2 ? sites : sites - 1;  // a ring of two has one bond
    for (int site = 0; site < bonds; ++site) {
      const int low = std::min(site, (site + 1) % sites), high = std::max(site, (site + 1) % sites);
      const std::uint32_t ends = (1U << low) | (1U << high);
      if (std::popcount(state & ends) != 1) continue;
      const std::uint32_t between = state & ((1U << high) - 1) & ~((2U << low) - 1);
      const auto found = std::ranges::lower_bound(states_, state ^ ends);
      hops.push_back({static_cast<int>(found - states_.begin()), std::popcount(between) % 2 == 0 ? 1.0 : -1.0});
    }
    return hops;
  }

  std::vector<std::uint32_t> states_;
  std::vector<std::vector<Hop>> hops_;
};

/// The states of the lattice: quanta in each mode, at most so many together, in lexicographic order.
class Phonons {
 public:
  Phonons(int modes, int most) : modes_(modes), most_(most) {
    for (int k = 0; k <= modes; ++k)
      for (int quanta = 0; quanta <= most; ++quanta) states_.push_back(static_cast<Index>(binomial(quanta + k, k)));
  }

  Index size() const { return states_with(modes_, most_); }

  std::vector<int> quanta_of(Index number) const {
    std::vector<int> quanta;
    int left = most_;
    for (int rest = modes_ - 1; rest >= 0; --rest) {
      int here = 0;
      while (number >= states_with(rest, left - here)) number -= states_with(rest, left - here++);
      quanta.push_back(here);
      left -= here;
    }
    return quanta;
  }

  Index number_of(const std::vector<int>& quanta) const {
    Index number = 0;
    int left = most_;
    for (int mode = 0; mode < modes_; ++mode) {
      const int here = quanta[static_cast<std::size_t>(mode)];
      for (int less = 0; less < here; ++less) number += states_with(modes_ - 1 - mode, left - less);
      left -= here;
    }
    return number;
  }

  int most() const { return most_; }

 private:
  /// States of so many modes with at most `quanta` in all.
  Index states_with(int modes, int quanta) const {
    return states_[static_cast<std::size_t>(modes) * static_cast<std::size_t>(most_ + 1) +
                   static_cast<std::size_t>(quanta)];
  }

  int modes_;
  int most_;
  std::vector<Index> states_;
};

/// f_m(i): cosines and sines with 1, 2, ... periods on the ring.
std::vector<std::vector<double>> modes_on(int sites) {
  std::vector<std::vector<double>> modes;
  for (int mode = 1; mode < sites; ++mode) {
    const int periods = (mode + 1) / 2;
    const bool sine = mode % 2 == 0;
    const double norm = std::sqrt((2 * periods == sites ? 1.0 : 2.0) / sites);
    std::vector<double> values;
    for (int site = 0; site < sites; ++site) {
      const double angle = 2 * std::numbers::pi * periods * site / sites;
      values.push_back(norm * (sine ? std::sin(angle) : std::cos(angle)));
    }
    modes.push_back(std::move(values));
  }
  return modes;
}

class Hamiltonian {
 public:
  explicit Hamiltonian(const HolsteinHubbard& model)
      : model_(model),
        up_(model.sites, (model.electrons + 1) / 2),
        down_(model.sites, model.electrons / 2),
        phonons_(model.sites - 1, model.phonons),
        modes_(modes_on(model.sites)) {}

  Index rows() const { return electron_states() * phonons_.size(); }

  void append_row(Index row, std::vector<Entry>& out) const {
    const std::size_t first = out.size();
    const bool electrons_first = model_.numbering == Numbering::kElectrons;
    const Index inner = electrons_first ? electron_states() : phonons_.size();
    const Index electron = electrons_first ? row % inner : row / inner;
    const Index phonon = electrons_first ? row / inner : row % inner;
    append_electrons(electron, phonon, out);
    append_phonons(electron, phonon, out);
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
              [](const Entry& a, const Entry& b) { return a.column < b.column; });
  }

 private:
  Index electron_states() const { return Index{up_.size()} * down_.size(); }
  Index electron(int up, int down) const { return Index{up} * down_.size() + down; }
  Index column(Index electron, Index phonon) const {
    return model_.numbering == Numbering::kElectrons ? phonon * electron_states() + electron
                                                     : electron * phonons_.size() + phonon;
  }
  int up_of(Index electron) const { return static_cast<int>(electron / down_.size()); }
  int down_of(Index electron) const { return static_cast<int>(electron % down_.size()); }

  void append_electrons(Index own, Index phonon, std::vector<Entry>& out) const {
    const int up = up_of(own), down = down_of(own);
    for (const Hop& hop : up_.hops(up))
      out.push_back({column(electron(hop.to, down), phonon), -model_.hopping * hop.sign});
    for (const Hop& hop : down_.hops(down))
      out.push_back({column(electron(up, hop.to), phonon), -model_.hopping * hop.sign});
  }

  /// And the diagonal.
  void append_phonons(Index own, Index phonon, std::vector<Entry>& out) const {
    constexpr double kNothing = 1e-12;  // a sum of cosines that vanishes
    std::vector<int> quanta = phonons_.quanta_of(phonon);
    int all = 0;
    for (const int each : quanta) all += each;
    const int pairs = std::popcount(up_.state(up_of(own)) & down_.state(down_of(own)));
    out.push_back({column(own, phonon), model_.repulsion * pairs + model_.frequency * all});
    for (std::size_t mode = 0; mode < modes_.size(); ++mode) {
      const double strength = -model_.coupling * model_.frequency * density_in(mode, own);
      if (std::abs(strength) < kNothing) continue;
      if (quanta[mode] > 0) append_change(own, quanta, mode, -1, strength * std::sqrt(quanta[mode]), out);
      if (all < phonons_.most()) append_change(own, quanta, mode, 1, strength * std::sqrt(quanta[mode] + 1), out);
    }
  }

  void append_change(Index own, std::vector<int>& quanta, std::size_t mode, int change, double value,
                     std::vector<Entry>& out) const {
    quanta[mode] += change;
    out.push_back({column(own, phonons_.number_of(quanta)), value});
    quanta[mode] -= change;
  }

  double density_in(std::size_t mode, Index own) const {
    const std::uint32_t up = up_.state(up_of(own)), down = down_.state(down_of(own));
    double sum = 0;
    for (int site = 0; site < model_.sites; ++site)
      sum += modes_[mode][static_cast<std::size_t>(site)] * static_cast<int>((up >> site & 1) + (down >> site & 1));
    return sum;
  }

  HolsteinHubbard model_;
  Spin up_;
  Spin down_;
  Phonons phonons_;
  std::vector<std::vector<double>> modes_;
};

}  // namespace

wire::Result<Matrix> holstein_hubbard(const HolsteinHubbard& model) {
  const double rows = binomial(model.sites, (model.electrons + 1) / 2) * binomial(model.sites, model.electrons / 2) *
                      binomial(model.phonons + model.sites - 1, model.sites - 1);
  if (rows > kMostRows)
    return wire::Error{
        fmt::format("{} sites, {} electrons and {} phonons make {:.3g} rows, and at most {:.0e} are "
                    "accepted; give fewer --phonons, or fewer --sites",
                    model.sites, model.electrons, model.phonons, rows, kMostRows)};
  const auto hamiltonian = std::make_shared<const Hamiltonian>(model);
  return Matrix{hamiltonian->rows(), true,
                [hamiltonian](Index row, std::vector<Entry>& out) { hamiltonian->append_row(row, out); }};
}

}  // namespace idlewave::sparse
