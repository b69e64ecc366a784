#pragma once
// The polynomial that lets a window of energies pass; afzal-2020, algorithm 1.

#include <vector>

namespace idlewave::chebfd {

/// Energies; lowest < highest.
struct Window {
  double lowest = -0.5;
  double highest = 0.5;
};

/// sum over p of coefficients[p] T_p(alpha E + beta).
struct Filter {
  double alpha = 1;
  double beta = 0;
  std::vector<double> coefficients;  ///< g_p c_p; degree + 1 of them.
};

/// Of the function that is 1 in the window and 0 outside: its Chebyshev coefficients c_p, with Jackson's g_p so that it
/// does not overshoot (A. Weisse, G. Wellein, A. Alvermann, H. Fehske: "The kernel polynomial method", Rev. Mod. Phys. 78,
/// 2006, eq. 71). No energy may be farther from 0 than `largest_energy`, nor may the window. degree >= 2.
Filter filter_of(const Window& window, double largest_energy, int degree);

/// T_p(x), |x| <= 1.
double chebyshev(int p, double x);

/// What an eigenvector of that energy is multiplied by.
double passed(const Filter& filter, double energy);

}  // namespace idlewave::chebfd
