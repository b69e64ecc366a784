#pragma once
// The verbs of `idlewave`, one file each; those in folders of their own stand there. All return the exit code: 0, 1
// for a run that failed, 2 for a wrong call or bad input.

#include <functional>
#include <string>
#include <string_view>

#include "monitor/cli/options.h"
#include "monitor/process/guard.h"

namespace idlewave::cli {

int run(const RunOptions& options);
int attach(const AttachOptions& options);
int record(const RecordOptions& options);
int carry(const CarryOptions& options);
int replay(const ReplayOptions& options);
int inject(const InjectOptions& options);
int info(const FileOptions& options);
int report(const FileOptions& options);
int theory(const TheoryOptions& options);
int doctor();

/// Runs the body of a verb that uses the terminal under a guard (monitor/process/guard.h): in a child process, and the
/// terminal is put back whatever happens to it.
int guarded(const std::function<int()>& body, process::GuardOptions options = {});

/// Prints to stderr.
void say(std::string_view text);

/// For who passes on the exit code of another program, which writes to the same stderr: where that is a pipe that nobody
/// empties for 2 s, nothing is said any more; on a terminal and in a file what is said begins a line, wherever the program
/// has left the last one.
void stand_beside_a_program();

/// Says "idlewave: <message>" and returns `code`.
int fail(const std::string& message, int code);

/// Prints a result, of several lines, to stdout. Whatever of it names a stranger's text on a line of its own goes
/// through wire::printable before.
void print(const std::string& text);

}  // namespace idlewave::cli
