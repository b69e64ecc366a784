#include "monitor/view/keys/prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/theory/idle_wave.h"
#include "monitor/view/paint/figures.h"

namespace idlewave::view::keys {
namespace {

using analysis::program::Outlook;
using wire::Nanoseconds;
using wire::Rank;

/// How a front ends: at `ranks` from its origin, `after` seconds.
struct FrontEnd {
  int ranks = 0;
  double after = 0;
  bool fades = false;  ///< Else it comes as far as there are ranks for it.
};

FrontEnd end_of(const Outlook& outlook, int ranks_per_step, int room, double delay) {
  const double leading = theory::wave_speed(1, ranks_per_step, outlook.step, 0);
  const double trailing = theory::wave_speed(1, ranks_per_step, outlook.step_behind, 0);
  const double reach = theory::wave_reach(delay, leading, trailing);
  const bool fades = ranks_per_step > 0 && reach < room;
  const int ranks = ranks_per_step == 0 ? 0 : fades ? int(reach) : room;
  return {.ranks = ranks, .after = leading > 0 ? ranks / leading : 0, .fades = fades};
}

struct Fronts {
  FrontEnd up, down;
};
Fronts fronts_of(const Outlook& outlook, Rank origin, Rank ranks, double delay) {
  const int up_room = outlook.ring ? theory::meeting_distance(ranks, outlook.up, outlook.down) : ranks - 1 - origin;
  const int down_room = !outlook.ring ? origin : outlook.up > 0 ? ranks - up_room : ranks - 1;
  return {.up = end_of(outlook, outlook.up, up_room, delay), .down = end_of(outlook, outlook.down, down_room, delay)};
}

std::string speed_in_words(const Outlook& outlook) {
  const int fastest = std::max(outlook.up, outlook.down);
  if (outlook.up > 0 && outlook.down > 0 && outlook.up != outlook.down)
    return fmt::format("{} up and {} down a step", outlook.up, outlook.down);
  return fmt::format("{} rank{} a step", fastest, fastest == 1 ? "" : "s");
}

/// Where both fronts fade; one that has no room is not told of.
std::string fading_in_words(const FrontEnd& up, const FrontEnd& down, Rank above, Rank below) {
  if (std::max(up.ranks, down.ranks) == 0) return "fades before it reaches anybody";
  if (up.ranks == 0 || down.ranks == 0) return fmt::format("fades near rank {}", up.ranks > 0 ? above : below);
  return fmt::format("fades near ranks {} and {}", below, above);
}

std::string course_in_words(const Outlook& outlook, const Fronts& fronts, Rank origin, Rank ranks) {
  const auto& [up, down] = fronts;
  const Rank above = (origin + up.ranks) % ranks, below = (origin - down.ranks % ranks + ranks) % ranks;
  if (up.fades || down.fades) {
    const bool up_ends = up.ranks > 0 && !up.fades, down_ends = down.ranks > 0 && !down.fades;
    if (!up_ends && !down_ends) return fading_in_words(up, down, above, below);
    return fmt::format("reaches rank {}, fades near rank {}", up_ends ? above : below, up_ends ? below : above);
  }
  if (outlook.ring && up.ranks > 0 && down.ranks > 0) return fmt::format("fronts meet at rank {}", above);
  if (up.ranks > 0 && down.ranks > 0)
    return fmt::format("reaches both ends, rank {} last", up.after < down.after ? below : above);
  if (up.ranks + down.ranks > 0)
    return fmt::format("runs {} to rank {}", up.ranks > 0 ? "up" : "down", up.ranks > 0 ? above : below);
  return "nobody waits for it";
}

}  // namespace

std::string prediction(const Outlook& outlook, Rank origin, Rank ranks, Nanoseconds delay) {
  if (ranks < 2 || outlook.step <= 0) return {};
  if (outlook.collective) return "all wait for it in the same step, by a collective";
  if (outlook.step_behind <= 0)
    return fmt::format("{}; ranks are out of step, its end is open", speed_in_words(outlook));
  const Fronts fronts = fronts_of(outlook, origin, ranks, std::chrono::duration<double>(delay).count());
  std::string words = outlook.known ? "" : "if neighbours wait, ";
  words += course_in_words(outlook, fronts, origin, ranks);
  const double after = std::max(fronts.up.after, fronts.down.after);
  if (after <= 0) return words;
  words += fmt::format(" in {}", paint::to_duration(Nanoseconds(std::int64_t(after * 1e9))));
  return outlook.known ? words + ", " + speed_in_words(outlook) : words;
}

}  // namespace idlewave::view::keys
