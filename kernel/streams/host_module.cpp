/// The built-in Python module `_xpto_host`: what only the kernel's own process can do. Absent in plain scripts.
#include "kernel/host.hpp"
#include "kernel/streams/descriptors.hpp"

#include "kernel/adapter.hpp"

#include <xeus/xinput.hpp>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

/// An interrupt that arrives between sending the question and waiting for its answer would be lost: the signal has been taken, and
/// the wait that follows does not know of it. While one of these lives, such a signal is sent again until the wait has failed.
class InterruptRepeater {
  public:
    InterruptRepeater() : m_main(pthread_self()) {
        s_seen = false;
        struct sigaction noting {};
        noting.sa_sigaction = &note;
        noting.sa_flags = SA_SIGINFO; // no SA_RESTART: the wait must fail
        sigaction(SIGINT, &noting, &s_before);
        m_thread = std::thread([this] { repeat(); });
    }
    ~InterruptRepeater() {
        {
            std::lock_guard lock(m_mutex);
            m_over = true;
        }
        m_changed.notify_all();
        m_thread.join();
        sigaction(SIGINT, &s_before, nullptr);
    }
    InterruptRepeater(const InterruptRepeater&) = delete;
    InterruptRepeater& operator=(const InterruptRepeater&) = delete;

  private:
    static void note(int number, siginfo_t* info, void* context) {
        s_seen = true;
        if (s_before.sa_flags & SA_SIGINFO) s_before.sa_sigaction(number, info, context);
        else if (s_before.sa_handler != SIG_DFL && s_before.sa_handler != SIG_IGN) s_before.sa_handler(number);
    }
    void repeat() {
        std::unique_lock lock(m_mutex);
        while (!m_changed.wait_for(lock, std::chrono::milliseconds(20), [this] { return m_over; }))
            if (s_seen) pthread_kill(m_main, SIGINT);
    }

    static inline std::atomic<bool> s_seen{false};
    static inline struct sigaction s_before {};
    pthread_t m_main;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_over = false;
    std::thread m_thread;
};

/// A stream message. Text that is not Unicode (lone surrogates) is repaired by the caller in Python.
void publish_stream(const std::string& name, const std::string& text) {
    xeus::get_interpreter().publish_stream(name, text);
}

/// Asks the front-end for a line. The GIL is free meanwhile: other threads go on. An interrupt makes the wait inside
/// ZeroMQ fail; whether that was an interrupt is Python's to say.
std::string input(const std::string& prompt, bool password) {
    std::string problem;
    {
        pybind11::gil_scoped_release free;
        InterruptRepeater repeater;
        try {
            return xeus::blocking_input_request(prompt, password);
        } catch (const std::exception& e) { problem = e.what(); }
    }
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
    throw std::runtime_error("input failed: " + problem);
}

} // namespace

PYBIND11_EMBEDDED_MODULE(_xpto_host, m) {
    const xpto::Layout& layout = xpto::layout();
    m.attr("version") = XPTO_VERSION;
    m.attr("executable") = layout.executable.string();
    m.attr("share") = layout.share.string();
    m.attr("xeus_python_version") = XPYT_VERSION;
    m.def("publish_stream", publish_stream);
    m.def("input", input);
    m.def("capture_descriptors", xpto::streams::capture);
    m.def("pending", xpto::streams::pending);
    m.def("terminal", xpto::streams::terminal);
    m.def("take", [](int descriptor) {
        xpto::streams::Taken taken = xpto::streams::take(descriptor);
        return pybind11::make_tuple(pybind11::bytes(taken.bytes), taken.dropped);
    });
}
