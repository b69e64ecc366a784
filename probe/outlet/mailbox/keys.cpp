#include "probe/outlet/mailbox/keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace idlewave::mailbox {
namespace {

constexpr std::string_view kTitle = "idlewave-key 1";
constexpr std::size_t kKeyLength = 40;
constexpr std::size_t kFileLimit = 1024;
constexpr std::array<std::pair<Role, const char*>, 3> kRoles{
    {{Role::kOperator, "operator"}, {Role::kViewer, "viewer"}, {Role::kAgent, "agent"}}};

using Fields = std::map<std::string, std::string, std::less<>>;

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

wire::Error cannot(const std::string& what, const std::string& path, int error_number) {
  return {"key file '" + path + "' can't be " + what + ": " + std::generic_category().message(error_number)};
}

// ---- making

struct Pair {
  std::string public_key;
  std::string secret_key;
};

wire::Result<Pair> make_pair() {
  std::array<char, kKeyLength + 1> public_key{}, secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0)
    return wire::Error{"this libzmq can't make keys (it was built without CURVE); sessions over ipc need none"};
  return Pair{public_key.data(), secret_key.data()};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(std::size_t(written));
  }
  return true;
}

/// Nobody ever sees half of it, and what a link with its name points to stays as it is.
wire::Status write_file(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  unlink(draft.c_str());
  const File file(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool written =
      file && fchmod(file.get(), 0600) == 0 && write_all(file.get(), text) && rename(draft.c_str(), path.c_str()) == 0;
  if (written) return wire::ok();
  const int error_number = errno;
  unlink(draft.c_str());
  return cannot("written", path, error_number);
}

std::string title_and_pair(const char* role, const Pair& pair) {
  return std::string(kTitle) + "\nrole " + role + "\npublic " + pair.public_key + "\nsecret " + pair.secret_key + "\n";
}

// ---- reading

/// Looks at the file that was opened, not at its name.
wire::Status check_owner(const File& file, const std::string& path) {
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return cannot("read", path, errno);
  if (!S_ISREG(status.st_mode)) return wire::Error{"'" + path + "' is no file, so no key file"};
  if (status.st_uid != geteuid()) return wire::Error{"key file '" + path + "' belongs to another user"};
  if ((status.st_mode & 07777) == 0600) return wire::ok();
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777);
  return wire::Error{"key file '" + path + "' has mode " + mode.data() +
                     "; it must be its owner's alone: chmod 600, or start a new session if others have seen it"};
}

wire::Result<std::string> read_file(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return cannot("read", path, errno);
  if (auto ours = check_owner(file, path); !ours) return ours.error();
  std::string text(kFileLimit, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path, errno);
    if (got == 0) break;
    length += std::size_t(got);
  }
  text.resize(length);
  return text;
}

bool is_key(const std::string& text) {
  std::array<std::uint8_t, 32> bytes;
  return text.size() == kKeyLength && text.find('\0') == std::string::npos &&
         zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
}

/// The lines behind the title; nothing if one of them is no "name value", or a name comes twice.
wire::Result<Fields> fields_of(std::string_view text, const wire::Error& damaged) {
  Fields fields;
  while (!text.empty()) {
    const std::size_t end = text.find('\n'), blank = text.find(' ');
    if (end == std::string_view::npos || blank >= end) return damaged;
    const bool is_new =
        fields.emplace(std::string(text.substr(0, blank)), std::string(text.substr(blank + 1, end - blank - 1))).second;
    if (!is_new) return damaged;
    text.remove_prefix(end + 1);
  }
  return fields;
}

wire::Result<Fields> read_fields(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const std::string title = std::string(kTitle) + "\n";
  if (!text->starts_with(title))
    return wire::Error{"'" + path + "' is no key file (its first line is not '" + std::string(kTitle) + "')"};
  return fields_of(std::string_view(*text).substr(title.size()), {"key file '" + path + "' is damaged"});
}

/// A role and keys under exactly these names.
bool holds(const Fields& fields, std::initializer_list<const char*> names) {
  return fields.size() == names.size() + 1 && std::ranges::all_of(names, [&](const char* name) {
           const auto found = fields.find(name);
           return found != fields.end() && is_key(found->second);
         });
}

}  // namespace

KeyFiles key_files(const std::string& folder) {
  return {folder + "/key.server", folder + "/key.operator", folder + "/key.viewer", folder + "/key.agent"};
}

wire::Result<KeyFiles> make_session_keys(const std::string& folder) {
  const KeyFiles files = key_files(folder);
  const auto server = make_pair();
  if (!server) return server.error();
  std::string admitted;
  for (const auto& [role, path] :
       {std::pair("operator", files.operators), std::pair("viewer", files.viewers), std::pair("agent", files.agents)}) {
    const auto pair = make_pair();
    if (!pair) return pair.error();
    const auto written = write_file(path, title_and_pair(role, *pair) + "server " + server->public_key + "\n");
    if (!written) return written.error();
    admitted += std::string(role) + " " + pair->public_key + "\n";
  }
  if (auto written = write_file(files.server, title_and_pair("server", *server) + admitted); !written)
    return written.error();
  return files;
}

wire::Result<ClientKey> read_client_key(const std::string& path) {
  const auto fields = read_fields(path);
  if (!fields) return fields.error();
  const auto role = fields->find("role");
  if (role != fields->end() && role->second == "server")
    return wire::Error{"'" + path +
                       "' is the key of the one who listens; to connect takes key.operator, key.viewer or key.agent"};
  const auto known = std::ranges::find_if(
      kRoles, [&](const auto& entry) { return role != fields->end() && role->second == entry.second; });
  if (known == kRoles.end() || !holds(*fields, {"public", "secret", "server"}))
    return wire::Error{"key file '" + path + "' is damaged"};
  return ClientKey{known->first, fields->at("public"), fields->at("secret"), fields->at("server")};
}

wire::Result<ServerKey> read_server_key(const std::string& path) {
  const auto fields = read_fields(path);
  if (!fields) return fields.error();
  const auto role = fields->find("role");
  const bool is_server = role != fields->end() && role->second == "server";
  if (is_server && holds(*fields, {"public", "secret", "operator", "viewer", "agent"}))
    return ServerKey{fields->at("public"),
                     fields->at("secret"),
                     {fields->at("operator"), fields->at("viewer"), fields->at("agent")}};
  if (!is_server && holds(*fields, {"public", "secret", "server"}))
    return wire::Error{"'" + path + "' is the key of one who connects; to listen takes the session's key.server"};
  return wire::Error{"key file '" + path + "' is damaged"};
}

}  // namespace idlewave::mailbox
