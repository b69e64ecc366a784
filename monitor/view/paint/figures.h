#pragma once
// Figures as the screen shows them: a unit always, at most three significant digits.

#include <cstdint>
#include <span>
#include <string>

#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::view::paint {

using wire::Nanoseconds;

std::string to_figure(double value);        ///< "9.95", "24.9", "412", "0.05": no unit, no exponent up to 10^6.
std::string to_duration(Nanoseconds span);  ///< "24.9 ms", "1.2 s", "2 min 5 s", "1 h 2 min".
/// A moment within a session, fine enough to tell two moments `resolution` apart: "12.4 s", "12.432 s".
std::string to_moment(Nanoseconds at, Nanoseconds resolution);
std::string to_bytes(std::uint64_t bytes);  ///< "1.1 MB".
std::string to_count(double count);         ///< "2.4 k", "412".
std::string to_limit(double value);         ///< A figure that stays: "5", "6.5", no zeros at its end.
std::string to_active(double processes);    ///< "9.9", "0.0", "4000": one decimal while it matters.
/// "13.0" where `like` is shown as "20.0 ms": the same unit, not named again.
std::string to_duration_like(Nanoseconds span, Nanoseconds like);
std::string ranks_in_words(std::span<const wire::Rank> ranks);  ///< "0-9,20" for ascending ranks.
std::string to_percent(double share);                           ///< "27 %".
/// Of 1, 2 or 5 times a power of ten, as labels of an axis stand apart, the smallest that is at least `least`; beyond
/// 5 * 10^17 `least` itself.
std::int64_t round_distance(std::int64_t least);

}  // namespace idlewave::view::paint
