#pragma once
// What every start of a program has in common: the words for its failure, its environment, and the signals that it
// finds.

#include <string>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::process {

/// Notes how whoever started us left the signals, and how many descriptors he let us have: programs that we start find it
/// so. First thing in main(); without it they find the usual. We ourselves get to know what becomes of our children, also
/// where SIGCHLD was ignored, and take as many descriptors as we may: each connection is one.
void remember_what_was_inherited();

/// Whether whoever started us had `signal` ignored, as nohup does with SIGHUP.
bool was_ignored(int signal);

/// Lets nothing that we open become a standard stream by taking its number, where one was closed. A program that we
/// start finds it closed. Before anything is opened.
void occupy_closed_streams();

/// What is open besides the standard streams, and not to be closed by exec(): what whoever started us has handed down to
/// the programs that we start. Ours is all closed by exec().
std::vector<int> handed_down();
/// Whoever waits for the other ends of these waits for the program alone. After it was started.
void let_go_of(const std::vector<int>& descriptors);

/// A standard stream is open on nothing from now on: whoever is at the other end learns when others let go of it.
void let_go_of_stream(int stream);

/// In a child, before exec: dispositions, mask and limit as they were remembered. Async-signal-safe.
void restore_what_was_inherited();

/// Ours with `added` ("NAME=value") on top; a name that is there already is replaced.
std::vector<std::string> merged_environment(const std::vector<std::string>& added);

/// As exec() wants them, with a null at the end. `texts` has to live as long.
std::vector<char*> pointers_to(const std::vector<std::string>& texts);

/// The line for a program that could not be started for `reason` (errno), with the package to install if we know one.
wire::Error cant_start(const std::string& program, int reason);

/// The errno that a child wrote to the other end before it gave up; 0 if that was closed without a word, by exec().
int failure_reported(int fd);

/// From a wait status: the code, or 128 + signal as shells say it.
int exit_code_from(int wait_status);

/// Ends us as a child has ended: by `signal`, but without a core of ours. A shell ends its script with who ends by Ctrl-C, and not
/// with who exits by 130. Comes back where the kernel does not let us, as process 1 of a container.
void end_by(int signal);

}  // namespace idlewave::process
