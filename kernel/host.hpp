#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace xpto {

/// Where this executable and its companions lie.
struct Layout {
    std::filesystem::path executable;
    std::filesystem::path python_package; // folder that holds the package `xpto`
    std::filesystem::path share;          // folder that holds jupyter/kernels/xpto
};

/// Found from the executable's own place, so that a build folder and an installation both work and both can be moved:
/// build/bin/xpto -> build/python, build/share; PREFIX/bin/xpto -> PREFIX/share/xpto/python, PREFIX/share.
const Layout& layout();

/// Starts CPython for the Jupyter kernel: no signal handlers of its own, no arguments (IPython would warn about `-f`).
/// Throws std::runtime_error with CPython's reason.
void start_python_for_kernel();

/// Runs `xpto.cli.main(arguments)` as the `python` command would run a script, and returns the exit code.
int run_command_line(const std::vector<std::string>& arguments);

} // namespace xpto
