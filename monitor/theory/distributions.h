#pragma once
// Distributions of noise. Pure.

namespace idlewave::theory {

/// P(a, x): the share of a gamma distribution of shape a > 0 and scale 1 that lies below x; 0 for x <= 0. By its series
/// below a + 1, by Lentz's continued fraction above (Abramowitz, Stegun, Handbook of Mathematical Functions, 6.5.29 and
/// 6.5.31).
double gamma_cumulative(double shape, double x);

}  // namespace idlewave::theory
