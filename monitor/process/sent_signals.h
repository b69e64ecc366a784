#pragma once
// Which of the signals that come to us are meant for what we have started, and how we take part in what they do.

namespace idlewave::process {

/// Not those that can't be had or are of our own children, nor what stops us where we touch the terminal. The C library
/// keeps two for itself.
bool is_passed_on(int signal);

/// Somebody sent it, and not the kernel for a limit that we have come to, or a reader who has gone. `code` and `sender` as in siginfo_t.
bool is_by_somebody(int signal, int code, int sender);

/// A signal that is blocked and has come acts now: one that stops us does, and here we go on. In a group that nobody can continue the
/// kernel drops it.
void let_act(int signal);

}  // namespace idlewave::process
