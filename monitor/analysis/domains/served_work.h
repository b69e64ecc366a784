#pragma once
// What ranks that share a memory interface did in each step: work that draws bandwidth, and what came on top of it.

#include <cstdint>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

#include "monitor/analysis/domains/service.h"

namespace idlewave::analysis::domains {

/// A rank's own part of a step, nanoseconds.
struct OwnPart {
  double held = 0;  ///< Before its work.
  double work = 0;  ///< By how long it would take alone.
  double idle = 0;  ///< Behind its work: noise, and all else that lasts as long whoever is at work beside.
};

/// Goes through what a domain was seen to do, oldest first: work of `volume` begins when its rank was seen to begin, and
/// what is left between its end and the rank's post is idle time. So whatever the volume is, ranks that are served
/// again from the same moments post at the same moments; with a volume that is too large they would have posted before
/// their work was done, and their work is cut there. The timeline must outlive it.
class ServedWork {
 public:
  /// Begins some steps before `from`, so that from then on it is known what goes on.
  ServedWork(const timeline::Timeline& timeline, std::span<const Rank> ranks, const Bandwidth& bandwidth, double volume,
             Nanoseconds from, Nanoseconds typical_step);

  /// Not backwards.
  void read_to(Nanoseconds until);
  /// Of the step that goes on where it has been read to: what has been done of its work; its volume once it is done.
  double done(std::size_t place) const;
  bool is_at_work(std::size_t place) const { return service_.is_at_work(place); }
  /// Of the place-th rank's record `index` of its lane: reads on to its post.
  const OwnPart& part(std::size_t place, std::size_t index);

  /// Share of the works since `from` that were cut.
  double share_cut() const { return posts_ > 0 ? double(cut_) / double(posts_) : 0; }

 private:
  struct Change {
    double at = 0;
    bool posts = false;
    std::size_t place = 0, index = 0;
    bool operator>(const Change& other) const {
      return std::tie(at, index, posts) > std::tie(other.at, other.index, other.posts);
    }
  };
  struct Track {
    const timeline::Lane* lane = nullptr;
    std::size_t first = 0, next = 0;  ///< Index of the first record that was read, and of the next one.
    std::vector<OwnPart> parts;
    std::vector<Nanoseconds> posts;
    bool begins_unknown = false;  ///< Of the work of the first one nothing is known but when it ends.
    double ended = 0;             ///< When its latest work was done.
  };
  /// Nanoseconds from where it begins, so that rounding does not depend on when in the session that is.
  double since_zero(Nanoseconds time) const { return double((time - zero_).count()); }
  void gather(Nanoseconds until);
  void take(const Change& change);
  void post(Track& track, const Change& change);
  bool is_unknown(const Change& change) const;

  Service service_;
  double volume_;
  Nanoseconds zero_;
  Nanoseconds known_from_;  ///< Of what was at work before it is not known who worked beside it.
  Nanoseconds gathered_to_;
  Nanoseconds stretch_;
  std::vector<Track> tracks_;
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
  std::uint64_t posts_ = 0, cut_ = 0;
};

/// The largest volume with which hardly any work between the two moments would have been cut, nanoseconds alone; 0 where
/// nothing tells. `guess`, if more than 0, is taken where it is as good.
double common_volume(const timeline::Timeline& timeline, std::span<const Rank> ranks, const Bandwidth& bandwidth,
                     Window window, Nanoseconds typical_step, double guess);

}  // namespace idlewave::analysis::domains
