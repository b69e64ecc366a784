#include "workloads/ranks/ring.h"

#include <cstring>

namespace idlewave::ranks {
namespace {

/// What a member sends: the number of the round, and then numbers of its own.
std::vector<std::uint64_t> message_of(int rank, int bytes) {
  std::vector<std::uint64_t> message((static_cast<std::size_t>(bytes) + sizeof(std::uint64_t) - 1) /
                                     sizeof(std::uint64_t));
  const auto first = static_cast<std::uint64_t>(rank + 1) << 32;
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = first + i;
  return message;
}

}  // namespace

Ring::Ring(const Group& members, int most)
    : members_(members),
      most_(most),
      next_((members.rank + 1) % members.size),
      before_((members.rank + members.size - 1) % members.size),
      sent_(message_of(members.rank, most)),
      received_(sent_.size()) {}

void Ring::turn() {
  bytes_ = most_;
  sent_[0] = ++round_;
  MPI_Sendrecv(sent_.data(), bytes_, MPI_BYTE, next_, 0, received_.data(), bytes_, MPI_BYTE, before_, 0, members_.ranks,
               MPI_STATUS_IGNORE);
  look_at_number();
}

void Ring::post(int bytes) {
  bytes_ = bytes;
  sent_[0] = ++round_;
  MPI_Irecv(received_.data(), bytes_, MPI_BYTE, before_, 0, members_.ranks, &requests_[0]);
  MPI_Isend(sent_.data(), bytes_, MPI_BYTE, next_, 0, members_.ranks, &requests_[1]);
}

bool Ring::is_done() {
  int done = 0;
  MPI_Testall(int(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
  if (done) look_at_number();
  return done != 0;
}

bool Ring::any_goes_on(bool own) const {
  int any = own;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, members_.ranks);
  return any != 0;
}

std::int64_t Ring::wrong() const {
  if (round_ == 0) return 0;
  std::vector<std::uint64_t> expected = message_of(before_, bytes_);
  expected[0] = round_;
  return wrong_ + (std::memcmp(received_.data(), expected.data(), static_cast<std::size_t>(bytes_)) != 0);
}

}  // namespace idlewave::ranks
