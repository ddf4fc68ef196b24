#pragma once
#include <memory>

#include "kernel/session.hpp"

#include <xeus/xhistory_manager.hpp>

namespace xpto {

/// Answers history requests from IPython's own database, so that earlier sessions are found too.
std::unique_ptr<xeus::xhistory_manager> make_history(Session& session);

} // namespace xpto
