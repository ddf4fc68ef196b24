#pragma once
/// The only header that knows which generation of the xeus stack is in use.
///
///   A  xeus 2.x (ZMQ server inside libxeus) and xeus-python 0.14           Debian 12
///   B  xeus 6.x, xeus-zmq 4.x and xeus-python 0.18 or 0.19                 conda-forge
///
/// On both a cell runs synchronously on the main thread, and every use of the shell and iopub sockets happens under the
/// GIL: with the asynchronous server of 0.19 the cells queued behind a failing one run although they must not. No other
/// file includes a xeus header, except xinput.hpp and xhistory_manager.hpp, which are the same in A and B.
#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <pybind11/embed.h>
#include <pybind11/pybind11.h>
#include <pybind11_json/pybind11_json.hpp>
#include <xeus-python/xeus_python_config.hpp>
#include <xeus-python/xinterpreter.hpp>
#include <xeus/xinterpreter.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver.hpp>
#ifdef XPTO_HAVE_XEUS_ZMQ
#include <xeus-zmq/xserver_zmq_split.hpp>
#include <xeus-zmq/xzmq_context.hpp>
#include <xeus/xrequest_context.hpp>
#else
#include <xeus/xeus_context.hpp>
#include <xeus/xserver_shell_main.hpp>
#include <zmq.hpp>
#endif

namespace xpto {

namespace py = pybind11;
namespace nl = nlohmann;

#ifdef XPTO_HAVE_XEUS_ZMQ
using PortConfiguration = xeus::xkernel_configuration;
#else
using PortConfiguration = xeus::xconfiguration;
#endif

/// Holds back displays and text that come faster than anybody takes them. ZeroMQ drops messages when a queue of 1,000
/// is full and the notebook server drops those above 1,000 a second; in both cases the message that says the cell has
/// ended is lost with them.
class Pace {
  public:
    void wait(const std::string& type) {
        if (type == "status" || type == "execute_input") return;
        using namespace std::chrono;
        const auto now = steady_clock::now();
        m_credit = std::min(burst, m_credit + per_second * duration<double>(now - m_last).count()) - 1;
        m_last = now;
        if (m_credit < 0) {
            py::gil_scoped_release free;
            std::this_thread::sleep_for(duration<double>(-m_credit / per_second));
        }
    }

  private:
    static constexpr double burst = 500, per_second = 900;
    double m_credit = burst;
    std::chrono::steady_clock::time_point m_last = std::chrono::steady_clock::now();
};

/// Wraps the stock server: the GIL around shell requests, a hook on interrupt_request (A has none), and the key
/// `password` that A forgets in an input_request, so that a front-end would show what is typed into getpass().
class Server final : public xeus::xserver {
  public:
    /// Called on the control thread: for interrupt_request, and when serving ends, before the library leaves through
    /// std::exit.
    inline static std::function<void()> on_interrupt, on_stop;

    explicit Server(std::unique_ptr<xeus::xserver> inner) : m_inner(std::move(inner)) {
        m_inner->register_shell_listener([this](xeus::xmessage m) {
            py::gil_scoped_acquire gil;
            notify_shell_listener(std::move(m));
        });
        m_inner->register_internal_listener([this](nl::json m) {
            py::gil_scoped_acquire gil;
            return notify_internal_listener(std::move(m));
        });
        m_inner->register_stdin_listener([this](xeus::xmessage m) { notify_stdin_listener(std::move(m)); });
        m_inner->register_control_listener([this](xeus::xmessage m) {
            if (m.header().value("msg_type", "") == "interrupt_request" && on_interrupt) on_interrupt();
            notify_control_listener(std::move(m));
        });
    }

    /// `replace`: a cell's reply is never lost because a program printed bytes that are not UTF-8.
    static std::unique_ptr<xeus::xserver> make(xeus::xcontext& context, const xeus::xconfiguration& configuration,
                                               nl::json::error_handler_t) {
        return std::make_unique<Server>(
            xeus::make_xserver_shell_main(context, configuration, nl::json::error_handler_t::replace));
    }

  private:
    xeus::xcontrol_messenger& get_control_messenger_impl() override { return m_inner->get_control_messenger(); }
    void send_shell_impl(xeus::xmessage m) override {
        if (m_aborting) // xeus calls it an error of the cell, and a front-end would show one
            m = xeus::xmessage(m.identities(), m.header(), m.parent_header(), m.metadata(), {{"status", "aborted"}},
                               xeus::buffer_sequence());
        m_inner->send_shell(std::move(m));
    }
    void send_control_impl(xeus::xmessage m) override { m_inner->send_control(std::move(m)); }
    void send_stdin_impl(xeus::xmessage m) override {
        nl::json content = m.content();
        if (content.contains("pwd") && !content.contains("password")) {
            content["password"] = content["pwd"];
            m = xeus::xmessage(m.identities(), m.header(), m.parent_header(), m.metadata(), std::move(content),
                               xeus::buffer_sequence());
        }
        m_inner->send_stdin(std::move(m));
    }
    void publish_impl(xeus::xpub_message m, xeus::channel c) override {
        if (c == xeus::channel::SHELL && PyGILState_Check()) m_pace.wait(m.header().value("msg_type", ""));
        m_inner->publish(std::move(m), c);
    }
    void start_impl(xeus::xpub_message m) override {
        m_topic = m.topic().substr(0, m.topic().rfind('.') + 1);
        m_session = m.header().value("session", "");
        m_user = m.header().value("username", "");
        m_inner->start(std::move(m));
    }
    /// Cells behind a failing one are answered "aborted". A front-end waits for their idle status too, which xeus does
    /// not send.
    void abort_queue_impl(const listener& l, long polling_interval) override {
        m_inner->abort_queue(
            [this, &l](xeus::xmessage m) {
                const nl::json parent = m.header();
                publish_status(parent, "busy");
                m_aborting = true;
                l(std::move(m));
                m_aborting = false;
                publish_status(parent, "idle");
            },
            polling_interval);
    }
    void publish_status(const nl::json& parent, const char* state) {
        m_inner->publish(xeus::xpub_message(m_topic + "status", xeus::make_header("status", m_user, m_session), parent,
                                            nl::json::object(), {{"execution_state", state}}, xeus::buffer_sequence()),
                         xeus::channel::SHELL);
    }
    void stop_impl() override {
        if (on_stop) on_stop();
        m_inner->stop();
    }
    void update_config_impl(PortConfiguration& c) const override { m_inner->update_config(c); }

    std::unique_ptr<xeus::xserver> m_inner;
    Pace m_pace;
    bool m_aborting = false;
    std::string m_topic, m_session, m_user;
};

/// What a front-end asks for with an execute_request.
struct CellRequest {
    int number = 0; // In[number]
    std::string code;
    bool silent = false;
    bool store_history = true;
    nl::json user_expressions;
    bool allow_stdin = false;
};

/// xpyt::interpreter with one execute signature. Streams are ours (first flag false), the display hook is
/// xeus-python's.
class InterpreterBase : public xpyt::interpreter {
  public:
#if XPYT_VERSION_MAJOR > 0 || XPYT_VERSION_MINOR >= 19
    InterpreterBase() : xpyt::interpreter(py::globals(), false, true) { m_release_gil_at_startup = true; }
#else
    InterpreterBase() : xpyt::interpreter(false, true) { m_release_gil_at_startup = true; }
#endif

  protected:
    /// Runs one cell and returns its reply; must not throw (a request without a reply makes the client wait for ever).
    virtual nl::json run_cell(const CellRequest& request) = 0;

#ifdef XPTO_HAVE_XEUS_ZMQ
    void execute_request_impl(send_reply_callback reply, int number, const std::string& code,
                              xeus::execute_request_config config, nl::json expressions) override {
        reply(
            run_cell({number, code, config.silent, config.store_history, std::move(expressions), config.allow_stdin}));
    }
    // Kept here and not in a context variable as 0.19 does: new threads do not inherit those, so their output had no
    // parent.
    void set_request_context(xeus::xrequest_context context) override { m_context = std::move(context); }
    const xeus::xrequest_context& get_request_context() const noexcept override { return m_context; }

  private:
    xeus::xrequest_context m_context;
#else
    nl::json execute_request_impl(int number, const std::string& code, bool silent, bool store_history,
                                  nl::json expressions, bool allow_stdin) override {
        return run_cell({number, code, silent, store_history, std::move(expressions), allow_stdin});
    }
#endif
};

inline std::unique_ptr<xeus::xcontext> make_context() {
#ifdef XPTO_HAVE_XEUS_ZMQ
    return xeus::make_zmq_context();
#else
    return std::make_unique<xeus::xcontext_impl<zmq::context_t>>();
#endif
}

/// Serves requests until shutdown. Without a connection file the ports are chosen here and printed by the library.
/// On A this function does not return: the library leaves through std::exit.
inline void serve(const std::string& connection_file, std::unique_ptr<xeus::xinterpreter> interpreter,
                  std::unique_ptr<xeus::xhistory_manager> history) {
    if (connection_file.empty()) {
        xeus::xkernel kernel(xeus::get_user_name(), make_context(), std::move(interpreter), Server::make,
                             std::move(history));
        kernel.start();
    } else {
        xeus::xkernel kernel(xeus::load_configuration(connection_file), xeus::get_user_name(), make_context(),
                             std::move(interpreter), Server::make, std::move(history));
        kernel.start();
    }
}

} // namespace xpto
