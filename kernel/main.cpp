/// The executable `xpto`: `kernel` is the Jupyter kernel, every other command is Python's
/// (share/xpto/python/xpto/cli.py).
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "kernel/history.hpp"
#include "kernel/host.hpp"
#include "kernel/interpreter.hpp"
#include "kernel/session.hpp"

namespace {

constexpr int wrong_usage = 2;
constexpr int internal_error = 3;

/// Runs Python's atexit functions and keeps the GIL: xeus 2 leaves through std::exit, so Py_Finalize never runs, and no
/// Python thread may touch objects while the process takes them apart.
void end_python() {
    static bool ended = false;
    if (std::exchange(ended, true) || !Py_IsInitialized()) return;
    PyGILState_Ensure();
    if (PyObject* atexit = PyImport_ImportModule("atexit")) {
        Py_XDECREF(PyObject_CallMethod(atexit, "_run_exitfuncs", nullptr));
        Py_DECREF(atexit);
    }
    PyErr_Clear();
}

int run_kernel(const std::string& connection_file) {
    xpto::hold_interrupts();
    signal(SIGPIPE, SIG_IGN); // writing to a child that has gone is an error of that write, not the end of the session
    xpto::start_python_for_kernel();
    xpto::Server::on_interrupt = xpto::send_interrupt;
    // Registered when serving ends, so that it runs before every exit function registered meanwhile: a Python thread
    // that publishes signs its message with OpenSSL, which takes itself down in an exit function too.
    xpto::Server::on_stop = [] { std::atexit(end_python); };
    // Both live as long as the process: the library leaves through std::exit while they are in use.
    auto* session = new xpto::Session;
    xpto::serve(connection_file, std::make_unique<xpto::Interpreter>(*session), xpto::make_history(*session));
    std::exit(0); // with xeus 6, where serve() returns
}

} // namespace

int main(int argc, char* argv[]) try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::string command = arguments.empty() ? "" : arguments[0];
    if (command == "--version") {
        std::cout << "xpto " XPTO_VERSION " (xeus-python " << XPYT_VERSION << ")\n";
        return 0;
    }
    if (command != "kernel") return xpto::run_command_line(arguments);

    if (arguments.size() == 1) return run_kernel("");
    if (arguments.size() == 3 && arguments[1] == "-f") return run_kernel(arguments[2]);
    std::cerr << "usage: xpto kernel [-f CONNECTION_FILE]\n";
    return wrong_usage;
} catch (const std::exception& e) {
    std::cerr << "xpto: " << e.what() << "\n";
    return internal_error;
}
