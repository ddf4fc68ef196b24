#pragma once
#include <csignal>
#include <optional>
#include <string>

#include "kernel/adapter.hpp"

namespace xpto {

/// What survives between cells: the IPython shell with its variables, history and streams
/// (share/xpto/python/xpto/shell.py), and who receives SIGINT. All functions are called with the GIL held, on the main
/// thread.
class Session {
  public:
    Session();

    /// The application object from which xeus-python takes its shell.
    py::object make_shell_app();
    /// Installs streams, descriptor capture and magics on the shell.
    void begin(const py::object& shell);

    /// Runs a cell. The reply may carry `shown`: true when the error is already on the page.
    nl::json run_cell(const CellRequest& request);
    /// Our own answer, or nothing when the base class should answer.
    std::optional<nl::json> complete(const std::string& code, int cursor);
    std::optional<nl::json> inspect(const std::string& code, int cursor, int detail);
    /// Rows of IPython's history; `how` is tail, range or search.
    nl::json history(const char* how, const py::dict& arguments);

  private:
    py::module_ m_shell;
    struct sigaction m_interrupt_action {}; // what SIGINT does while a cell runs
};

/// Keeps SIGINT away from every thread that is started from now on, and ignores it until a cell runs.
void hold_interrupts();
/// Delivers SIGINT as a signal-mode interrupt would: to the process group when it is ours.
void send_interrupt();

} // namespace xpto
