#pragma once
#include <cstddef>
#include <string>

namespace xpto::streams {

/// File descriptors 1 and 2 as pipes that a C++ thread drains: output of printf, std::cout and child processes reaches
/// the notebook. A Python thread could not do it: C++ that prints more than a pipe holds while it holds the GIL would
/// wait for ever.

/// What a descriptor delivered since the last call.
struct Taken {
    std::string bytes;
    std::size_t dropped = 0; // bytes beyond the memory limit, counted but not kept
};

/// Redirects both descriptors and starts the thread. False when the system has no pipes left; then nothing has changed.
bool capture();
/// True when something waits in a C buffer, in a pipe or in memory. Cheap: asked before every write of a Python
/// program, so that printf and print come out in program order.
bool pending();
/// Empties C buffers and pipes of descriptor 1 or 2 and returns what arrived.
Taken take(int descriptor);
/// The descriptor that was number 2 before capture(): where a crash report can still be written.
int terminal();

} // namespace xpto::streams
