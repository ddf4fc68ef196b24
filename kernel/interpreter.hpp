#pragma once
#include "kernel/adapter.hpp"
#include "kernel/session.hpp"

namespace xpto {

/// Translates Jupyter requests into calls on the session, and nothing else.
class Interpreter final : public InterpreterBase {
  public:
    explicit Interpreter(Session& session) : m_session(session) {}

  private:
    void configure_impl() override;
    void instanciate_ipython_shell() override; // spelled as in the base class
    nl::json run_cell(const CellRequest& request) override;
    nl::json complete_request_impl(const std::string& code, int cursor) override;
    nl::json inspect_request_impl(const std::string& code, int cursor, int detail) override;
    nl::json is_complete_request_impl(const std::string& code) override;
    nl::json kernel_info_request_impl() override;

    Session& m_session;
};

} // namespace xpto
