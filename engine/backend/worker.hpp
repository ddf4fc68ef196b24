#pragma once
/// The worker: one process that holds one place to run (a card, or this machine's own cores) and runs foreign code for its owner.
///   requests  open, devices, load, launch, wait, release, quit     (frames.hpp says how they travel)
///   ends      at `quit`, or when the owner has gone: everything it held is given back first
///   output    what foreign code writes to descriptors 1 and 2 belongs to the launch; a reply that says mark=TEXT has been preceded by that
///             text on both, so that the owner knows where a launch's output ends
namespace pto::backend {

/// Serves until the owner quits or is gone; the process's exit code.
int serve(int socket);

} // namespace pto::backend
