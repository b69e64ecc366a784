#include "monitor/analysis/partners/exchange_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis::partners {
namespace {

/// So many rows tell what a message takes.
constexpr std::size_t kRowsForTransfer = 32;
/// Who is asked for by his rank costs so many looks.
constexpr std::size_t kOneByOne = 4;

}  // namespace

double ExchangeFit::off_by(const Exchange& exchange, double most) const {
  EndPredictor predictor(exchange);
  double sum = 0;
  std::size_t known = 0, row = 0;
  const double most_in_all = most * double(sample_.width() * sample_.rows());
  for (; row < sample_.rows() && sum <= most_in_all; ++row) {
    const auto ends = predictor.ends(sample_, row), seen = sample_.ends(row);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const double off = std::abs(ends[i] - seen[i]);
      if (off < kAny) sum += off, ++known;
    }
  }
  looks_ += row * sample_.width() * (1 + predictor.offsets());
  const double mean = sum / double(known);
  return known > 0 && mean <= most ? mean : kAny;
}

double ExchangeFit::off_alone() const {
  std::vector<double> waits;
  for (std::size_t row = 0; row < sample_.rows(); ++row)
    for (std::size_t i = 0; i < sample_.width(); ++i)
      if (const double wait = sample_.ends(row)[i] - sample_.posts(row)[i]; !std::isnan(wait)) waits.push_back(wait);
  looks_ += sample_.rows() * sample_.width();
  if (waits.empty()) return 0;
  const double usual = median(waits);
  double sum = 0;
  for (const double wait : waits) sum += std::abs(wait - usual);
  return sum / double(waits.size());
}

ExchangeFit::Timed ExchangeFit::timed(Exchange exchange, double most) const {
  exchange.transfer = {};
  std::vector<double> beyond = beyond_of(exchange);
  Timed best{{}, off_by(exchange, most)};
  std::set<Nanoseconds> tried{best.transfer};
  const std::size_t messages = exchange.split ? exchange.distances.size() : 1;
  for (const double quantile : {0.1, 0.5, 0.9}) {
    if (beyond.empty()) break;
    const auto at = beyond.begin() + std::ptrdiff_t(quantile * double(beyond.size() - 1));
    std::ranges::nth_element(beyond, at);
    for (std::size_t in_a_row = 1; in_a_row <= messages; ++in_a_row) {
      exchange.transfer = Nanoseconds(std::llround(*at / double(in_a_row)));
      if (!tried.insert(exchange.transfer).second) continue;
      if (const double its = off_by(exchange, std::min(most, best.off)); its < best.off)
        best = {exchange.transfer, its};
    }
  }
  return best;
}

Nanoseconds ExchangeFit::refined_transfer(Exchange exchange, double off) const {
  Nanoseconds best = exchange.transfer;
  for (Nanoseconds step = best / 4; step > Nanoseconds{1}; step /= 2) {
    for (const Nanoseconds tried : {best - step, best + step}) {
      exchange.transfer = tried;
      if (const double its = off_by(exchange, off); its < off) best = tried, off = its;
    }
  }
  return best;
}

/// Of waits of some rows: by how much longer they lasted.
std::vector<double> ExchangeFit::beyond_of(const Exchange& exchange) const {
  std::vector<double> beyond;
  EndPredictor predictor(exchange);
  const std::size_t stride = std::max<std::size_t>(1, sample_.rows() / kRowsForTransfer);
  for (std::size_t row = 0; row < sample_.rows(); row += stride) {
    const auto ends = predictor.ends(sample_, row), seen = sample_.ends(row), posts = sample_.posts(row);
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (seen[i] > posts[i] + kRounding && std::isfinite(ends[i])) beyond.push_back(std::max(0.0, seen[i] - ends[i]));
  }
  looks_ += sample_.rows() / stride * sample_.width() * (1 + predictor.offsets());
  return beyond;
}

double ExchangeFit::ignored(Rank offset, bool ring) const {
  double late = 0, ignored = 0;
  for (std::size_t row = 0; row < sample_.rows(); ++row) {
    const auto posts = sample_.posts(row), done = sample_.done(row), ends = sample_.ends(row);
    for (std::size_t i = 0; i < posts.size(); ++i) {
      const Rank other = steps::rank_at(sample_.rank(row, i), offset, sample_.ranks(), ring);
      const std::ptrdiff_t place = other < 0 ? -1 : sample_.place(row, other);
      if (place < 0 || !(done[std::size_t(place)] > posts[i]) || std::isnan(ends[i])) continue;
      late += done[std::size_t(place)] - posts[i];
      ignored += std::max(0.0, done[std::size_t(place)] - ends[i]);
    }
  }
  looks_ += kOneByOne * sample_.rows() * sample_.width();
  return late > 0 ? ignored / late : 0;
}

}  // namespace idlewave::analysis::partners
