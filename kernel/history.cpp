#include "kernel/history.hpp"

namespace xpto {

using namespace py::literals;

namespace {

class History final : public xeus::xhistory_manager {
  public:
    explicit History(Session& session) : m_session(session) {}

  private:
    void configure_impl() override {}
    // run_cell(store_history=True) has stored it already
    void store_inputs_impl(int, int, const std::string&, const std::string&) override {}

    nl::json get_tail_impl(int n, bool raw, bool output) const override {
        return ask([&] { return m_session.history("tail", py::dict("n"_a = n, "raw"_a = raw, "output"_a = output)); });
    }
    nl::json get_range_impl(int session, int start, int stop, bool raw, bool output) const override {
        return ask([&] {
            return m_session.history("range", py::dict("session"_a = session, "start"_a = start, "stop"_a = stop,
                                                       "raw"_a = raw, "output"_a = output));
        });
    }
    nl::json search_impl(const std::string& pattern, bool raw, bool output, int n, bool unique) const override {
        return ask([&] {
            return m_session.history("search", py::dict("pattern"_a = pattern, "raw"_a = raw, "output"_a = output,
                                                        "n"_a = n, "unique"_a = unique));
        });
    }

    template <class Question>
    static nl::json ask(Question question) {
        py::gil_scoped_acquire gil;
        try {
            return {{"status", "ok"}, {"history", question()}};
        } catch (const std::exception& e) {
            return {{"status", "error"},
                    {"ename", "HistoryError"},
                    {"evalue", e.what()},
                    {"traceback", nl::json::array()},
                    {"history", nl::json::array()}};
        }
    }

    Session& m_session;
};

} // namespace

std::unique_ptr<xeus::xhistory_manager> make_history(Session& session) { return std::make_unique<History>(session); }

} // namespace xpto
