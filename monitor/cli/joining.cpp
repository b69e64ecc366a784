#include "monitor/cli/joining.h"

#include <utility>
#include <vector>

#include "monitor/cli/paths.h"

namespace idlewave::cli {
namespace {

wire::Role role_for(bool view_only) { return view_only ? wire::Role::kSpectator : wire::Role::kOperator; }

std::variant<Joined, NotReached> opened(const link::LiveOptions& options, Joined joined) {
  auto link = link::open_live(options);
  if (!link) return NotReached{link.error().message, 2};
  joined.link = std::move(*link);
  return joined;
}

std::vector<std::string> carry_words(const JoinOptions& options) {
  std::vector<std::string> words{"carry"};
  if (!options.session.empty()) words.push_back(options.session);
  if (!options.key.empty()) words.insert(words.end(), {"--key", options.key});
  if (options.view_only) words.emplace_back("--view");
  return words;
}

std::variant<Joined, NotReached> join_over(const JoinOptions& options) {
  NotReached why;
  auto remote = Remote::reach(options.over, carry_words(options), why);
  if (!remote) return why;
  const link::Greeting& greeting = remote->greeting();
  const link::LiveOptions live{
      .endpoint = "'" + options.over + "'", .in = remote->in(), .out = remote->out(), .role = greeting.role};
  Joined joined{.remote = nullptr,
                .link = nullptr,
                .session = greeting.session,
                .label = greeting.label,
                .endpoint = live.endpoint};
  joined.remote = std::move(remote);
  return opened(live, std::move(joined));
}

}  // namespace

std::variant<Joined, NotReached> join(const JoinOptions& options) {
  if (!options.over.empty()) return join_over(options);
  const auto session = find_session(options.session);
  if (!session) return NotReached{session.error().message, 2};
  return opened({.endpoint = session->endpoint,
                 .key = options.key.empty() ? session->key : options.key,
                 .role = role_for(options.view_only)},
                {.remote = nullptr,
                 .link = nullptr,
                 .session = session->name,
                 .label = session->label,
                 .endpoint = session->endpoint});
}

}  // namespace idlewave::cli
