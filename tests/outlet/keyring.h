#pragma once
// The keys of a session, and those of nobody's.

#include <gtest/gtest.h>

#include <string>

#include "probe/outlet/mailbox/keys.h"
#include "tests/outlet/scratch.h"

namespace idlewave {

/// A session's keys in a folder of their own, gone with it.
class Keyring {
 public:
  Keyring() {
    auto made = mailbox::make_session_keys(scratch_.file("."));
    EXPECT_TRUE(made) << made.error().message;
    files = *made;
  }
  mailbox::KeyFiles files;

 private:
  Scratch scratch_;
};

}  // namespace idlewave
