#include "kernel/session.hpp"

#include <unistd.h>

namespace xpto {

using namespace py::literals;

namespace {

/// SIGINT reaches Python only while a cell runs. Ignored otherwise: an interrupt of an idle kernel must neither end the
/// process nor make a poll in ZeroMQ return EINTR, which xeus does not survive.
class InterruptsAllowed {
  public:
    explicit InterruptsAllowed(struct sigaction& action) : m_action(action) {
        sigaction(SIGINT, &m_action, nullptr);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    }
    ~InterruptsAllowed() {
        struct sigaction ignore {};
        ignore.sa_handler = SIG_IGN;
        sigaction(SIGINT, &ignore, &m_action); // a handler that the cell installed comes back with the next cell
    }

  private:
    struct sigaction& m_action;
};

std::optional<nl::json> given(const py::object& answer) {
    if (answer.is_none()) return std::nullopt;
    return answer.cast<nl::json>();
}

} // namespace

Session::Session() : m_shell(py::module_::import("xpto.shell")) {}

py::object Session::make_shell_app() { return m_shell.attr("ShellApp")(); }

void Session::begin(const py::object& shell) {
    m_shell.attr("begin")(shell); // installs the Python handler of SIGINT ...
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &m_interrupt_action); // ... which waits here for the first cell
}

nl::json Session::run_cell(const CellRequest& request) {
    InterruptsAllowed allowed(m_interrupt_action);
    py::object reply = m_shell.attr("run_cell")("code"_a = request.code, "number"_a = request.number,
                                                "silent"_a = request.silent, "store_history"_a = request.store_history,
                                                "user_expressions"_a = py::object(request.user_expressions),
                                                "allow_stdin"_a = request.allow_stdin);
    return reply.cast<nl::json>();
}

std::optional<nl::json> Session::complete(const std::string& code, int cursor) {
    return given(m_shell.attr("complete")(code, cursor));
}

std::optional<nl::json> Session::inspect(const std::string& code, int cursor, int detail) {
    return given(m_shell.attr("inspect")(code, cursor, detail));
}

nl::json Session::history(const char* how, const py::dict& arguments) {
    return m_shell.attr("history")(how, **arguments).cast<nl::json>();
}

void hold_interrupts() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    signal(SIGINT, SIG_IGN);
}

void send_interrupt() {
    if (getpgrp() == getpid()) {
        killpg(getpid(), SIGINT);
    } else {
        kill(getpid(), SIGINT);
    }
}

} // namespace xpto
