#pragma once
// What the ranks tell each other in a step.

#include <mpi.h>

#include <optional>
#include <vector>

#include "workloads/ranks/place.h"
#include "workloads/ring/doorbell.h"
#include "workloads/ring/options.h"

namespace idlewave::ring {

/// A message to rank + d and one from rank - d, for each distance d. It says when its sender was done, where it is sent
/// eagerly and has room; who looks at another clock does not heed that.
class Exchange {
 public:
  /// Finds out by trying whether MPI sends such messages eagerly. `bells`: one for each rank of the node, or none to
  /// wait as MPI does, by polling. `first_wait`: the probe's number of the first wait of a step. Collective.
  Exchange(const Options& options, MPI_Comm ranks, const ranks::Group& node, std::optional<Doorbells> bells,
           int first_wait);

  /// Once a step by every rank, which was `done` with its work. Returns when the sends and receives of this rank have
  /// completed. Gives the moment when it was ready for the next step as the messages say: the last of those when it and
  /// its partners were done. Now, if one of them can't say.
  wire::Nanoseconds run(wire::Nanoseconds done);

  /// Does MPI complete a send before anybody receives it?
  bool is_eager() const { return eager_; }

 private:
  struct Partners {
    int send_to;       ///< or MPI_PROC_NULL
    int receive_from;  ///< or MPI_PROC_NULL
    int tag;
    bool same_clock;  ///< As the rank from which it receives.
    std::vector<char> sent;
    std::vector<char> received;
  };

  /// Whom one wait depends on, as the probe is told: ranks of the job.
  struct Awaited {
    std::vector<int> from;
    std::vector<int> to;
  };

  void note_awaited();
  void say_partners(std::size_t wait) const;
  bool try_eager();
  void post_send(Partners& partners);
  void post_receive(Partners& partners);
  void complete();
  void complete_asleep();
  void heed_time(const Partners& partners);
  void wake(int rank);
  void wake_partners();
  void note_neighbours(const ranks::Group& node);

  MPI_Comm ranks_;
  int first_wait_;
  bool synchronous_;
  bool split_waits_;
  bool eager_ = false;
  bool says_times_ = false;            ///< The same on all ranks.
  wire::Nanoseconds ready_{};          ///< In a step: as far as messages have come.
  std::vector<Partners> partners_;     ///< One per distance, in the order given.
  std::vector<Awaited> awaited_;       ///< One per wait of a step.
  std::vector<MPI_Request> requests_;  ///< Those under way; empty between steps.
  std::vector<int> completed_;         ///< Room for the indices of those that just ended.

  std::optional<Doorbells> bells_;
  int own_bell_;
  std::vector<int> bell_of_rank_;  ///< MPI_UNDEFINED for a rank on another node.
  wire::Nanoseconds look_again_after_{};
};

}  // namespace idlewave::ring
