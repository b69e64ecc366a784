#include "tests/workloads/exact_run.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>

#include "workloads/support/neighbour.h"

namespace idlewave::tests {
namespace {

using support::neighbour;
using support::Protocol;
using support::Rank;
using support::WaitFlavour;

/// The judge rounds less than those it judges.
using Real = long double;

constexpr Real kNever = std::numeric_limits<Real>::infinity();

/// Moments that differ by rounding alone are one moment.
constexpr Real kSameMoment = 1e-15L;

/// A rank works, or holds still until a moment (delay, noise, transfer), or waits for what others have yet to do.
struct RankState {
  enum class Doing { kHolding, kWorking, kNoise, kWaiting, kFinished };
  Doing doing = Doing::kHolding;
  int step = 0;
  int stage = 0;   // split waits: one for each distance
  Real until = 0;  // for kWaiting once all have posted that it waits for
  Real left = 0;   // kWorking: bytes, or seconds if core-bound
};

/// Nothing changes how fast its ranks work before one of them is done with what it does.
struct Domain {
  int first = 0, last = 0;  // ranks, without the last
  Real since = 0;           // when it changed last: `left` of its ranks is of then
  Real rate = 0;            // work per second of each rank that works
  Real next = kNever;       // when the first of its ranks is done with what it does
  bool is_seen_to = false;  // `rate` and `next` are those of now
};

class Simulation {
 public:
  explicit Simulation(const ExactProgram& program) : p_(program), ranks_(static_cast<std::size_t>(program.ranks)) {
    const auto n = static_cast<std::size_t>(p_.ranks);
    const int stages =
        p_.communication.wait == WaitFlavour::kSplit ? static_cast<int>(p_.communication.distances.size()) : 1;
    stages_ = stages;
    posted_.assign(static_cast<std::size_t>(p_.steps * stages), std::vector<Real>(n, kNever));
    run_.step_start.assign(n, std::vector<double>(static_cast<std::size_t>(p_.steps), 0));
    run_.finish.assign(n, 0);
    run_.work.assign(n, std::vector<WorkSpan>(static_cast<std::size_t>(p_.steps)));
    for (int first = 0; first < p_.ranks; first += p_.ranks_per_domain)
      domains_.push_back({first, std::min(p_.ranks, first + p_.ranks_per_domain)});
    run_.domain_bytes.assign(domains_.size(), 0);
    for (int rank = 0; rank < p_.ranks; ++rank) begin_step(rank);
  }

  ExactRun take() && {
    while (std::ranges::any_of(ranks_, [](const RankState& r) { return r.doing != RankState::Doing::kFinished; }))
      advance();
    run_.makespan = now();
    return std::move(run_);
  }

 private:
  using Doing = RankState::Doing;
  double now() const { return static_cast<double>(now_); }
  RankState& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Real& posted(int rank, int step, int stage) {
    return posted_[static_cast<std::size_t>(step * stages_ + stage)][static_cast<std::size_t>(rank)];
  }

  /// To the next moment at which anything happens.
  void advance() {
    if (somebody_posted_) end_waits();
    somebody_posted_ = false;
    Real next = kNever;
    for (Domain& domain : domains_) {
      if (!domain.is_seen_to) see_to(domain);
      next = std::min(next, domain.next);
    }
    assert(next < kNever && "deadlock");
    now_ = std::max(now_, next);
    for (Domain& domain : domains_) {
      if (domain.next <= now_ + kSameMoment) go_on(domain);
    }
  }

  /// Of those who wait for nobody any more.
  void end_waits() {
    for (Domain& domain : domains_) {
      for (int rank = domain.first; rank < domain.last; ++rank) {
        RankState& r = at(rank);
        if (r.doing != Doing::kWaiting || r.until < kNever) continue;
        r.until = wait_ends(rank);
        if (r.until < kNever) domain.is_seen_to = false;
      }
    }
  }

  void see_to(Domain& domain) {
    int active = 0;
    for (int rank = domain.first; rank < domain.last; ++rank) active += at(rank).doing == Doing::kWorking;
    domain.rate = !p_.bandwidth ? 1 : active > 0 ? Real{p_.bandwidth(active)} / active : 0;
    domain.next = kNever;
    for (int rank = domain.first; rank < domain.last; ++rank) {
      RankState& r = at(rank);
      if (r.doing == Doing::kWorking) r.until = domain.since + r.left / domain.rate;
      if (r.until < domain.next) domain.next = r.until;
    }
    domain.is_seen_to = true;
  }

  void go_on(Domain& domain) {
    for (int rank = domain.first; rank < domain.last; ++rank) {
      RankState& r = at(rank);
      if (r.doing == Doing::kWorking) work(domain, r);
      if (r.until <= now_ + kSameMoment) go_on(rank);
    }
    domain.since = now_;
    domain.is_seen_to = false;
  }

  void work(const Domain& domain, RankState& r) {
    const Real done = domain.rate * (now_ - domain.since);
    r.left -= done;
    if (p_.bandwidth)
      run_.domain_bytes[static_cast<std::size_t>(&domain - domains_.data())] += static_cast<double>(done);
  }

  void go_on(int rank) {
    RankState& r = at(rank);
    switch (r.doing) {
      case Doing::kHolding: return begin_work(rank);
      case Doing::kWorking: return end_work(rank);
      case Doing::kNoise: return begin_wait(rank, 0);
      case Doing::kWaiting: return end_wait(rank);
      case Doing::kFinished: return;
    }
  }

  void begin_step(int rank) {
    RankState& r = at(rank);
    run_.step_start[static_cast<std::size_t>(rank)][static_cast<std::size_t>(r.step)] = now();
    r.doing = Doing::kHolding;
    r.until = now_;
    for (const Delay& delay : p_.delays) {
      if (delay.rank == rank && delay.step == r.step) r.until += std::chrono::duration<Real>(delay.duration).count();
    }
  }

  void begin_work(int rank) {
    RankState& r = at(rank);
    r.doing = Doing::kWorking;
    r.left = p_.bandwidth ? p_.volume : p_.time;
    work_span(rank).from = now();
  }

  void end_work(int rank) {
    RankState& r = at(rank);
    WorkSpan& work = work_span(rank);
    work.to = now();
    if (p_.noise) work.noise = p_.noise(rank, r.step);
    if (p_.noise_in_time) work.noise = p_.noise_in_time(rank, r.step, work.from, work.to);
    r.doing = Doing::kNoise;
    r.until = now_ + work.noise;
  }

  WorkSpan& work_span(int rank) {
    return run_.work[static_cast<std::size_t>(rank)][static_cast<std::size_t>(at(rank).step)];
  }

  void begin_wait(int rank, int stage) {
    RankState& r = at(rank);
    r.doing = Doing::kWaiting;
    r.until = kNever;
    somebody_posted_ = true;
    r.stage = stage;
    posted(rank, r.step, stage) = now_;
  }

  void end_wait(int rank) {
    RankState& r = at(rank);
    if (r.stage + 1 < stages_) return begin_wait(rank, r.stage + 1);
    r.doing = Doing::kFinished;
    if (++r.step < p_.steps) return begin_step(rank);
    r.until = kNever;
    run_.finish[static_cast<std::size_t>(rank)] = now();
  }

  /// Eager: a receive ends at max(own post, sender's post + T), a send at its post. Rendezvous: both at max(both posts)
  /// + T.
  Real wait_ends(int rank) {
    const RankState& r = at(rank);
    const Communication& c = p_.communication;
    const bool rendezvous = c.protocol == Protocol::kRendezvous;
    std::optional<Real> last;  // of the posts that it waits for
    for (std::size_t i = 0; i < c.distances.size(); ++i) {
      if (stages_ > 1 && static_cast<int>(i) != r.stage) continue;
      const auto sender = neighbour(c.topology, p_.ranks, rank, -c.distances[i]);
      const auto receiver = neighbour(c.topology, p_.ranks, rank, c.distances[i]);
      if (sender) last = std::max(last, std::optional{posted(*sender, r.step, r.stage)});
      if (receiver && rendezvous) last = std::max(last, std::optional{posted(*receiver, r.step, r.stage)});
      if (last == kNever) return kNever;
    }
    const Real own = posted(rank, r.step, r.stage);
    if (!last) return own;
    const Real transfer = std::chrono::duration<Real>(c.time).count();
    return rendezvous ? std::max(own, *last) + transfer : std::max(own, *last + transfer);
  }

  const ExactProgram& p_;
  int stages_ = 1;
  Real now_ = 0;
  std::vector<RankState> ranks_;
  std::vector<Domain> domains_;
  bool somebody_posted_ = false;           // at this moment
  std::vector<std::vector<Real>> posted_;  // [step * stages + stage][rank]
  ExactRun run_;
};

}  // namespace

double ExactRun::active_mean(int domain, int ranks_per_domain, double from, double to) const {
  double active = 0;
  const int last = std::min((domain + 1) * ranks_per_domain, static_cast<int>(work.size()));
  for (int rank = domain * ranks_per_domain; rank < last; ++rank) {
    for (const WorkSpan& span : work[static_cast<std::size_t>(rank)]) {
      active += std::max(0.0, std::min(span.to, to * makespan) - std::max(span.from, from * makespan));
    }
  }
  return active / ((to - from) * makespan);
}

ExactRun simulate(const ExactProgram& program) { return Simulation{program}.take(); }

}  // namespace idlewave::tests
