#include "workloads/sim/sweep/mpi_sweep.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "probe/signals/interrupted.h"
#include "workloads/sim/sweep/row_message.h"

namespace idlewave::sim::sweep {
namespace {

enum Tag : int { kAsk = 1, kGive = 2, kRow = 3 };
constexpr int kDealer = 0;

/// MPI's own waiting takes a core, which the runs need.
constexpr std::chrono::milliseconds kBetweenLooks{1};

using Given = std::array<std::uint64_t, 2>;  // first row and their number; none: there are no more

/// A rank's first shares together are this part of its fair one, so that it does not sit on the long runs.
constexpr std::size_t kCaution = 4;

bool message_waits(MPI_Comm ranks, int from, int tag, MPI_Status& waiting) {
  int waits = 0;
  MPI_Iprobe(from, tag, ranks, &waits, &waiting);
  return waits != 0;
}

}  // namespace

Dealer::Dealer(MPI_Comm ranks, const Options& options, int threads, int threads_of_all)
    : ranks_(ranks), options_(options), threads_(threads), threads_of_all_(threads_of_all) {
  MPI_Comm_size(ranks, &helpers_);
  --helpers_;
}

Dealer::~Dealer() {
  while (helpers_ > 0 && !signals::interrupted()) {
    answer_all();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Rows Dealer::run(std::size_t count) {
  rows_.resize(count);
  count_ = count;
  RowPool pool(options_, threads_, signals::interrupted());
  while (received_ < count_ && !signals::interrupted()) {
    if (pool.has_idle_thread()) pool.add(share(threads_));
    answer_all();
    for (FinishedRow& row : pool.take(kBetweenLooks)) {
      rows_[row.number] = std::move(row.row);
      ++received_;
    }
  }
  return std::move(rows_);
}

RowRange Dealer::share(int threads) {
  const std::size_t left = count_ - next_;
  const std::size_t fair = left * std::size_t(threads) / std::size_t(threads_of_all_);
  const std::size_t count = std::min(left, std::max<std::size_t>(1, fair / kCaution));
  return {std::exchange(next_, next_ + count), count};
}

void Dealer::answer_all() {
  MPI_Status waiting;
  while (message_waits(ranks_, MPI_ANY_SOURCE, kAsk, waiting)) answer(waiting.MPI_SOURCE);
  while (message_waits(ranks_, MPI_ANY_SOURCE, kRow, waiting)) receive_row(waiting);
}

void Dealer::answer(int helper) {
  int threads = 1;
  MPI_Recv(&threads, 1, MPI_INT, helper, kAsk, ranks_, MPI_STATUS_IGNORE);
  const RowRange rows = share(threads);
  const Given given{rows.first, rows.count};
  MPI_Send(given.data(), int(given.size()), MPI_UINT64_T, helper, kGive, ranks_);
  if (rows.count == 0) --helpers_;
}

void Dealer::receive_row(const MPI_Status& waiting) {
  int bytes = 0;
  MPI_Get_count(&waiting, MPI_BYTE, &bytes);
  std::vector<std::uint8_t> message(static_cast<std::size_t>(bytes));
  MPI_Recv(message.data(), bytes, MPI_BYTE, waiting.MPI_SOURCE, kRow, ranks_, MPI_STATUS_IGNORE);
  FinishedRow row = decode_row(message);
  rows_.at(row.number) = std::move(row.row);
  ++received_;
}

void help(MPI_Comm ranks, const Options& options, int threads) {
  RowPool pool(options, threads, signals::interrupted());
  bool asked = false, more = true;
  while (more || asked || !pool.is_done()) {
    if (signals::interrupted()) return;
    MPI_Status waiting;
    if (more && !asked && pool.has_idle_thread()) {
      MPI_Send(&threads, 1, MPI_INT, kDealer, kAsk, ranks);
      asked = true;
    }
    if (asked && message_waits(ranks, kDealer, kGive, waiting)) {
      Given given{};
      MPI_Recv(given.data(), int(given.size()), MPI_UINT64_T, kDealer, kGive, ranks, MPI_STATUS_IGNORE);
      asked = false;
      more = given[1] > 0;
      pool.add({std::size_t(given[0]), std::size_t(given[1])});
    }
    for (const FinishedRow& row : pool.take(kBetweenLooks)) {
      const std::vector<std::uint8_t> message = encode_row(row);
      MPI_Send(message.data(), int(message.size()), MPI_BYTE, kDealer, kRow, ranks);
    }
  }
}

}  // namespace idlewave::sim::sweep
