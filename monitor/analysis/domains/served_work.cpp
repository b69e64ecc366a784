#include "monitor/analysis/domains/served_work.h"

#include <algorithm>
#include <limits>

namespace idlewave::analysis::domains {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;

constexpr int kStepsBefore = 8;
constexpr int kStepsAtOnce = 16;
/// Of the work: times are rounded, and what is nearer is equal.
constexpr double kSame = 1e-5;
constexpr double kMostCut = 0.03;
constexpr int kHalvings = 24;
/// A guess is as good if so much more would be too much.
constexpr double kAsGood = 0.01;

double nanoseconds(Nanoseconds time) { return double(time.count()); }

/// Before its work; a delay is longer than the work, and noise comes behind it.
double held(const steps::StepCourse& course) { return course.held > course.work() ? nanoseconds(course.held) : 0; }

}  // namespace

ServedWork::ServedWork(const Timeline& timeline, std::span<const Rank> ranks, const Bandwidth& bandwidth, double volume,
                       Nanoseconds from, Nanoseconds typical_step)
    : service_(ranks.size(), bandwidth),
      volume_(volume),
      zero_(from),
      known_from_(from - kStepsBefore * typical_step),
      gathered_to_(known_from_),
      stretch_(kStepsAtOnce * typical_step),
      tracks_(ranks.size()) {
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    Track& track = tracks_[place];
    track.lane = timeline.lane(ranks[place]);
    if (!track.lane) continue;
    const std::size_t begun = track.lane->steps_begun_before(gathered_to_ + Nanoseconds{1});
    track.first = track.next = begun == 0 ? 0 : begun - 1;
    if (begun == 0) continue;
    const steps::StepCourse course = steps::course_of(*track.lane, track.lane->steps()[begun - 1]);
    track.begins_unknown = course.post <= from && since_zero(course.begin) + held(course) < since_zero(known_from_);
  }
  read_to(from);
  posts_ = cut_ = 0;
}

void ServedWork::gather(Nanoseconds until) {
  for (std::size_t place = 0; place < tracks_.size(); ++place) {
    Track& track = tracks_[place];
    if (!track.lane) continue;
    const auto steps = track.lane->steps();
    for (; track.next < steps.size(); ++track.next) {
      const StepRecord record = steps[track.next];
      if (record.begin >= until) break;
      const steps::StepCourse course = steps::course_of(*track.lane, record);
      track.parts.push_back({.held = held(course)});
      track.posts.push_back(course.post);
      changes_.push({since_zero(course.begin) + track.parts.back().held, false, place, track.next});
      changes_.push({since_zero(course.post), true, place, track.next});
    }
  }
  gathered_to_ = until;
}

void ServedWork::read_to(Nanoseconds until) {
  const double to = since_zero(until);
  while (true) {
    if (gathered_to_ <= until) gather(std::max(until + Nanoseconds{1}, gathered_to_ + stretch_));
    if (changes_.empty() || changes_.top().at > to) break;
    const Change change = changes_.top();
    changes_.pop();
    take(change);
  }
  take({.at = to, .posts = true, .place = tracks_.size(), .index = 0});
}

/// Of a place beyond all: only time passes.
void ServedWork::take(const Change& change) {
  while (service_.next_end() <= change.at) {
    const double end = service_.next_end();
    for (const std::size_t place : service_.end_next()) tracks_[place].ended = end;
  }
  service_.advance(change.at);
  if (change.place == tracks_.size()) return;
  if (change.posts) return post(tracks_[change.place], change);
  if (service_.is_at_work(change.place)) service_.stop(change.place);
  service_.begin(change.place, is_unknown(change) ? std::numeric_limits<double>::infinity() : volume_);
}

/// Of what began before anybody's company is known. It is at work until it posts: in a domain that is never idle, work
/// that is done too early leaves others too much for ever; what is done too late is cut at the next posts.
bool ServedWork::is_unknown(const Change& change) const {
  const Track& track = tracks_[change.place];
  return track.begins_unknown && change.index == track.first;
}

void ServedWork::post(Track& track, const Change& change) {
  OwnPart& part = track.parts[change.index - track.first];
  const double left = service_.is_at_work(change.place) ? service_.stop(change.place) : 0;
  if (is_unknown(change)) {
    part.work = volume_;
    return;
  }
  if (left == 0) part.idle = change.at - track.ended;
  part.work = left > kSame * volume_ ? volume_ - left : volume_;
  if (part.idle < kSame * volume_) part.idle = 0;
  ++posts_;
  cut_ += left > kSame * volume_;
}

double ServedWork::done(std::size_t place) const {
  return service_.is_at_work(place) ? volume_ - service_.left(place) : volume_;
}

const OwnPart& ServedWork::part(std::size_t place, std::size_t index) {
  Track& track = tracks_[place];
  static const OwnPart kNone;
  if (index < track.first) return kNone;
  if (index >= track.next) {
    const auto steps = track.lane->steps();
    if (index >= steps.size()) return kNone;
    read_to(steps[index].begin);
  }
  read_to(track.posts[index - track.first]);
  return track.parts[index - track.first];
}

double common_volume(const Timeline& timeline, std::span<const Rank> ranks, const Bandwidth& bandwidth, Window window,
                     Nanoseconds typical_step, double guess) {
  const auto is_too_much = [&](double volume) {
    ServedWork served(timeline, ranks, bandwidth, volume, window.from, typical_step);
    served.read_to(window.to);
    return served.share_cut() > kMostCut;
  };
  if (guess > 0 && !is_too_much(guess) && is_too_much((1 + kAsGood) * guess)) return guess;
  double fits = 0, too_much = nanoseconds(typical_step);
  for (int i = 0; i < kHalvings; ++i) {
    const double volume = (fits + too_much) / 2;
    (is_too_much(volume) ? too_much : fits) = volume;
  }
  return fits;
}

}  // namespace idlewave::analysis::domains
