#include "workloads/sim/network/goal_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace idlewave::sim::network {

namespace {

constexpr std::size_t kShortestRank = 9;  ///< "rank 0 {}"

constexpr bool is_letter(char c) { return unsigned((c | 0x20) - 'a') < 26u; }
constexpr bool is_digit(char c) { return unsigned(c - '0') < 10u; }
constexpr auto kNames = [] {
  std::array<bool, 256> names{};
  for (std::size_t c = 0; c < names.size(); ++c) names[c] = is_letter(char(c)) || is_digit(char(c)) || c == '_';
  return names;
}();
bool is_name(char c) { return kNames[static_cast<unsigned char>(c)]; }
bool is_printable(char c) { return c > 0x20 && c < 0x7f; }

/// Walks over the text, word by word; knows the line.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  int line() const { return line_; }
  bool done() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }

  /// Over blanks and comments, within the line but for /* */. False: a comment that does not end.
  bool skip_blanks() {
    while (at_ != end_ && *at_ == ' ') ++at_;
    if (at_ != end_ && (*at_ == '/' || *at_ == '\t' || *at_ == '\r')) skip_rare_blanks();
    return !unclosed_;
  }

  /// Over blanks, comments, lines and `;`.
  bool skip_to_statement() {
    while (skip_blanks() && (peek() == '\n' || peek() == ';')) line_ += *at_++ == '\n';
    return !unclosed_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  /// A letter and what letters, digits and _ follow; empty: none.
  std::string_view word() {
    skip_blanks();
    const char* const begin = at_;
    if (at_ != end_ && is_letter(*at_))
      while (at_ != end_ && is_name(*at_)) ++at_;
    return {begin, std::size_t(at_ - begin)};
  }

  bool take_word(std::string_view expected) {
    const char* const begin = (skip_blanks(), at_);
    if (word() == expected) return true;
    at_ = begin;
    return false;
  }

  /// Nothing: no digit here. A number beyond 2^64 - 1 is given as that.
  std::optional<std::uint64_t> number() {
    skip_blanks();
    if (at_ == end_ || !is_digit(*at_)) return {};
    std::uint64_t value = 0;
    const char* const begin = at_;
    for (; at_ != end_ && is_digit(*at_); ++at_) value = value * 10 + std::uint64_t(*at_ - '0');
    return at_ - begin < std::numeric_limits<std::uint64_t>::digits10 ? value : long_number({begin, at_});
  }

  /// At the end of a statement: a line's end, `;`, or what ends the block.
  bool at_stop() {
    skip_blanks();
    return at_ == end_ || *at_ == '\n' || *at_ == ';' || *at_ == '}';
  }

  /// What stands here, for a complaint.
  std::string found() {
    skip_blanks();
    if (at_ == end_) return "the end of the file";
    if (*at_ == '\n') return "the end of the line";
    if (!is_printable(*at_)) return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(*at_));
    const char* const stop = std::find_if_not(at_, at_ + std::min<std::ptrdiff_t>(end_ - at_, 24), is_printable);
    return fmt::format("\"{}\"", std::string_view(at_, std::size_t(stop - at_)));
  }

 private:
  static constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

  void skip_rare_blanks() {
    for (; at_ != end_; ++at_) {
      if (*at_ == ' ' || *at_ == '\t' || *at_ == '\r') continue;
      if (*at_ != '/' || !skip_comment()) break;
    }
  }

  static std::uint64_t long_number(std::string_view digits) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} ? value : kMost;
  }

  /// Leaves at_ on the comment's last byte, or before the line's end. False: no comment.
  bool skip_comment() {
    if (end_ - at_ < 2 || (at_[1] != '/' && at_[1] != '*')) return false;
    const std::string_view rest(at_, std::size_t(end_ - at_));
    const std::size_t stop = at_[1] == '/' ? rest.find('\n') : rest.find("*/", 2);
    unclosed_ = at_[1] == '*' && stop == rest.npos;
    const std::string_view comment = rest.substr(0, at_[1] == '/' || unclosed_ ? stop : stop + 2);
    line_ += int(std::count(comment.begin(), comment.end(), '\n'));
    at_ += comment.size() - 1;
    return true;
  }

  const char* at_;
  const char* end_;
  int line_ = 1;
  bool unclosed_ = false;
};

/// The labels of one rank: an open hash table that is emptied by raising the generation.
class Labels {
 public:
  void clear() {
    ++generation_;
    size_ = 0;
  }

  /// False: it is there already.
  bool add(std::string_view label, OpId op) {
    if (2 * ++size_ > slots_.size()) grow();
    Slot& slot = slot_of(slots_, label);
    if (slot.generation == generation_) return false;
    slot = {label, op, generation_};
    return true;
  }

  std::optional<OpId> find(std::string_view label) {
    const Slot& slot = slot_of(slots_, label);
    return slot.generation == generation_ ? std::optional(slot.op) : std::nullopt;
  }

  std::string_view name_of(OpId op) const {
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [&](const Slot& s) { return s.generation == generation_ && s.op == op; });
    return slot == slots_.end() ? std::string_view("?") : slot->label;
  }

 private:
  struct Slot {
    std::string_view label;
    OpId op = 0;
    std::uint32_t generation = 0;
  };

  static std::size_t hash(std::string_view label) {
    std::uint64_t hash = label.size();
    for (; label.size() > 8; label.remove_prefix(8)) hash = mix(hash, load(label.substr(0, 8)));
    return std::size_t(mix(hash, load(label)) >> 20);
  }
  static std::uint64_t load(std::string_view bytes) {
    std::uint64_t word = 0;
    for (const char c : bytes) word = word << 8 | static_cast<unsigned char>(c);
    return word;
  }
  static std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    const std::uint64_t product = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return product ^ product >> 32;
  }

  Slot& slot_of(std::vector<Slot>& slots, std::string_view label) const {
    std::size_t at = hash(label) & (slots.size() - 1);
    while (slots[at].generation == generation_ && slots[at].label != label) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }

  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& slot : slots_)
      if (slot.generation == generation_) slot_of(larger, slot.label) = slot;
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t size_ = 0;
  std::uint32_t generation_ = 1;
};

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : cursor_(text), name_(name), text_size_(text.size()) {}

  wire::Result<GoalSchedule> read() {
    if (!read_header() || !read_ranks()) return wire::Error{error_};
    auto schedule = std::move(*builder_).build();
    if (!schedule) return wire::Error{fmt::format("{}: {}", name_, schedule.error().message)};
    return schedule;
  }

 private:
  bool read_header() {
    if (!cursor_.skip_to_statement()) return fail_comment();
    std::uint64_t ranks = 0;
    if (!expect_word("num_ranks", "\"num_ranks N\" first") || !expect_number("a number of ranks", 1, kMaxRanks, ranks))
      return false;
    if (ranks > text_size_ / kShortestRank)
      return fail(fmt::format("num_ranks {}: the file is too short for as many; each rank has a block", ranks));
    builder_.emplace(Rank(ranks));
    builder_->reserve(text_size_ / 32, text_size_ / 32);
    seen_.assign(std::size_t(ranks), 0);
    return true;
  }

  bool read_ranks() {
    for (;;) {
      if (!cursor_.skip_to_statement()) return fail_comment();
      if (cursor_.done()) return check_all_seen();
      if (!expect_word("rank", "\"rank R {\"") || !read_rank()) return false;
    }
  }

  bool read_rank() {
    std::uint64_t rank = 0;
    if (!expect_number("a rank", 0, seen_.size() - 1, rank)) return false;
    if (seen_[std::size_t(rank)] != 0)
      return fail(fmt::format("rank {} is there already, in line {}; give each rank one block", rank,
                              seen_[std::size_t(rank)]));
    rank_ = Rank(rank);
    seen_[std::size_t(rank)] = cursor_.line();
    cursor_.skip_to_statement();
    if (!cursor_.take('{')) return expected("\"{\"");
    labels_.clear();
    ascending_ = true;
    first_dependence_ = builder_->dependences().size();
    return read_statements() && check_cycle();
  }

  bool read_statements() {
    for (;;) {
      if (!cursor_.skip_to_statement()) return fail_comment();
      if (cursor_.take('}')) return true;
      if (cursor_.done()) return fail(fmt::format("the file ends inside rank {}; close it with \"}}\"", rank_));
      if (!read_statement()) return false;
      if (!cursor_.at_stop()) return expected("the end of the line");
    }
  }

  bool read_statement() {
    const int line = cursor_.line();
    std::string_view word = cursor_.word();
    if (is_op(word)) return read_op(word).has_value();
    if (word.empty()) return expected("calc, send, recv, a label or \"}\"");
    if (!cursor_.take(':')) return read_dependence(word);
    const std::string_view label = word;
    word = cursor_.word();
    if (!is_op(word)) return expected(fmt::format("calc, send or recv after \"{}:\"", label));
    const auto op = read_op(word);
    if (!op) return false;
    if (!labels_.add(label, *op)) return fail(fmt::format("label \"{}\" is used twice in rank {}", label, rank_), line);
    return true;
  }

  static bool is_op(std::string_view word) { return word == "calc" || word == "send" || word == "recv"; }

  std::optional<OpId> read_op(std::string_view word) {
    if (builder_->size() >= kMaxOps) return fail(fmt::format("more than {} operations", kMaxOps)), std::nullopt;
    return word == "calc" ? read_calc() : read_message(word == "send");
  }

  std::optional<OpId> read_calc() {
    std::uint64_t nanoseconds = 0;
    Options options;
    if (!expect_number("a duration in ns", 0, kMaxCalcNs, nanoseconds) || !read_options(options, false)) return {};
    return builder_->calc(rank_, nanoseconds, options.units);
  }

  std::optional<OpId> read_message(bool send) {
    std::uint64_t bytes = 0;
    Rank peer = 0;
    Options options;
    if (!expect_number("a size in bytes", 0, kMaxMessageBytes, bytes) || !expect_word("b", "\"b\", as in 8b") ||
        !expect_word(send ? "to" : "from", send ? "\"to\"" : "\"from\"") || !read_peer(send, peer) ||
        !read_options(options, true))
      return {};
    return send ? builder_->send(rank_, bytes, peer, options.tag, options.units)
                : builder_->recv(rank_, bytes, peer, options.tag, options.units);
  }

  bool read_peer(bool send, Rank& peer) {
    if (!send && cursor_.take('-')) {
      peer = kAnySource;
      std::uint64_t one = 0;
      return expect_number("-1, which is any source", 1, 1, one);
    }
    std::uint64_t rank = 0;
    if (!expect_number("a rank", 0, seen_.size() - 1, rank)) return false;
    peer = Rank(rank);
    return true;
  }

  struct Options {
    Tag tag = 0;
    Units units;
  };

  bool read_options(Options& options, bool message) {
    while (!cursor_.at_stop()) {
      if (message && cursor_.take_word("tag")) {
        if (!read_tag(options.tag)) return false;
      } else if (cursor_.take_word("cpu")) {
        if (!read_unit("a cpu", options.units.cpu)) return false;
      } else if (message && cursor_.take_word("nic")) {
        if (!read_unit("a nic", options.units.nic)) return false;
      } else {
        return expected(message ? "tag, cpu, nic or the end of the line" : "cpu or the end of the line");
      }
    }
    return true;
  }

  bool read_tag(Tag& tag) {
    std::uint64_t number = 0;
    if (cursor_.take('-')) {
      tag = kAnyTag;
      return expect_number("-1, which is any tag", 1, 1, number);
    }
    if (!expect_number("a tag", 0, kAnyTag - 1, number)) return false;
    tag = Tag(number);
    return true;
  }

  bool read_unit(const char* what, std::uint8_t& unit) {
    std::uint64_t number = 0;
    if (!expect_number(what, 0, 255, number)) return false;
    unit = std::uint8_t(number);
    return true;
  }

  bool read_dependence(std::string_view label) {
    const bool on_start = cursor_.take_word("irequires");
    if (!on_start && !cursor_.take_word("requires"))
      return expected(fmt::format("\":\", requires or irequires after \"{}\"", label));
    const std::string_view required = cursor_.word();
    if (required.empty()) return expected("a label");
    const auto later = labels_.find(label);
    const auto earlier = labels_.find(required);
    if (!later || !earlier)
      return fail(fmt::format("label \"{}\" does not stand above in rank {}", later ? required : label, rank_));
    ascending_ = ascending_ && *earlier < *later;
    on_start ? builder_->after_start(*later, *earlier) : builder_->after(*later, *earlier);
    return true;
  }

  bool check_cycle() {
    if (ascending_) return true;
    const auto cycle = find_cycle(builder_->dependences().subspan(first_dependence_));
    if (cycle.empty()) return true;
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(cycle.size(), 8); ++i)
      names += fmt::format("{} requires ", labels_.name_of(cycle[i]));
    if (cycle.size() > 8) names += "... requires ";
    return fail(fmt::format("rank {}: labels wait for each other: {}{}; remove one of these lines", rank_, names,
                            labels_.name_of(cycle.front())));
  }

  bool check_all_seen() {
    const auto missing = std::find(seen_.begin(), seen_.end(), 0);
    if (missing == seen_.end()) return true;
    return fail(fmt::format("the file ends and rank {} has no block; give it one, \"rank {} {{ }}\" if it does nothing",
                            missing - seen_.begin(), missing - seen_.begin()));
  }

  bool expect_word(std::string_view word, std::string_view what) { return cursor_.take_word(word) || expected(what); }

  bool expect_number(std::string_view what, std::uint64_t from, std::uint64_t to, std::uint64_t& number) {
    const auto found = cursor_.number();
    if (!found) return expected(what);
    number = *found;
    if (number >= from && number <= to) return true;
    const std::string shown = number == std::numeric_limits<std::uint64_t>::max() ? "that" : std::to_string(number);
    return fail(fmt::format("{} is out of range: {} is {} to {}", shown, what, from, to));
  }

  bool expected(std::string_view what) { return fail(fmt::format("expected {}, found {}", what, cursor_.found())); }
  bool fail_comment() { return fail("a comment does not end; close it with */"); }
  bool fail(std::string_view what) { return fail(what, cursor_.line()); }
  bool fail(std::string_view what, int line) {
    error_ = fmt::format("{}:{}: {}", name_, line, what);
    return false;
  }

  static constexpr std::uint64_t kMaxRanks = std::uint64_t(std::numeric_limits<Rank>::max()) - 1;

  Cursor cursor_;
  std::string_view name_;
  std::size_t text_size_;
  std::string error_;
  std::optional<GoalBuilder> builder_;
  std::vector<int> seen_;  ///< By rank: the line of its block; 0: none yet.
  Rank rank_ = 0;          ///< Whose block this is.
  Labels labels_;
  bool ascending_ = true;  ///< So far no operation of this rank waits for a later one.
  std::size_t first_dependence_ = 0;
};

}  // namespace

wire::Result<GoalSchedule> read_goal(std::string_view text, std::string_view name) { return Reader(text, name).read(); }

}  // namespace idlewave::sim::network
