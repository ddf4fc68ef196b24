#include "kernel/interpreter.hpp"

#include <iostream>

namespace xpto {

namespace {

nl::json failure(const std::string& name, const std::string& what) {
    return {
        {"status", "error"}, {"ename", name}, {"evalue", what}, {"traceback", nl::json::array({name + ": " + what})}};
}

/// Every request gets exactly one reply: whatever an answer throws becomes an error reply.
template <class Answer>
nl::json answered(Answer answer) {
    try {
        return answer();
    } catch (py::error_already_set& e) {
        if (e.matches(PyExc_KeyboardInterrupt)) return failure("KeyboardInterrupt", "");
        return failure("KernelError", e.what());
    } catch (const std::exception& e) { return failure("KernelError", e.what()); }
}

} // namespace

void Interpreter::instanciate_ipython_shell() { m_ipython_shell_app = m_session.make_shell_app(); }

void Interpreter::configure_impl() {
    xpyt::interpreter::configure_impl(); // creates the shell and releases the GIL
    py::gil_scoped_acquire gil;
    m_session.begin(m_ipython_shell);
}

nl::json Interpreter::run_cell(const CellRequest& request) {
    py::gil_scoped_acquire gil;
    nl::json reply = answered([&] { return m_session.run_cell(request); });
    // Errors that IPython shows itself (a UsageError in red) carry no traceback and need no second message.
    const bool shown = reply.value("shown", false);
    reply.erase("shown");
    if (reply["status"] == "error" && !request.silent && !shown)
        publish_execution_error(reply["ename"], reply["evalue"], reply["traceback"].get<std::vector<std::string>>());
    return reply;
}

nl::json Interpreter::complete_request_impl(const std::string& code, int cursor) {
    py::gil_scoped_acquire gil;
    nl::json reply = answered([&] {
        auto own = m_session.complete(code, cursor);
        return own ? *own : xpyt::interpreter::complete_request_impl(code, cursor);
    });
    if (reply.value("status", "error") != "ok")
        reply.update({{"matches", nl::json::array()},
                      {"cursor_start", cursor},
                      {"cursor_end", cursor},
                      {"metadata", nl::json::object()}});
    return reply;
}

nl::json Interpreter::inspect_request_impl(const std::string& code, int cursor, int detail) {
    py::gil_scoped_acquire gil;
    nl::json reply = answered([&] {
        auto own = m_session.inspect(code, cursor, detail);
        return own ? *own : xpyt::interpreter::inspect_request_impl(code, cursor, detail);
    });
    if (reply.value("status", "error") != "ok")
        reply.update({{"found", false}, {"data", nl::json::object()}, {"metadata", nl::json::object()}});
    return reply;
}

nl::json Interpreter::is_complete_request_impl(const std::string& code) {
    py::gil_scoped_acquire gil;
    nl::json reply = answered([&] { return xpyt::interpreter::is_complete_request_impl(code); });
    if (reply.value("status", "error") == "error") return {{"status", "unknown"}};
    return reply;
}

nl::json Interpreter::kernel_info_request_impl() {
    nl::json reply = xpyt::interpreter::kernel_info_request_impl();
    reply["implementation"] = "xeus-pto";
    reply["implementation_version"] = XPTO_VERSION;
    reply["banner"] =
        "xeus-pto " XPTO_VERSION ": PyPTO Pro operator kernels in a notebook. %pto_help shows what there is.";
    reply["debugger"] = false;
    reply.erase("supported_features"); // newer xeus lists the debugger there
    reply["help_links"] = nl::json::array({{{"text", "Python"}, {"url", "https://docs.python.org/3/"}}});
    const std::string version = Py_GetVersion(); // the base answers with the version it was built against
    reply["language_info"]["version"] = version.substr(0, version.find(' '));
    reply["language_info"]["codemirror_mode"] = {{"name", "ipython"}, {"version", 3}};
    reply["language_info"]["pygments_lexer"] = "ipython3";
    reply["language_info"]["nbconvert_exporter"] = "python";
    return reply;
}

} // namespace xpto
