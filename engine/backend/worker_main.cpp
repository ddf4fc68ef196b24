/// xpto-worker: started by its owner with a connected stream socket as descriptor 3 (or the number given).
#include "engine/backend/worker.hpp"

#include <cstdlib>
#include <iostream>
#include <sys/socket.h>

int main(int argc, char* argv[]) {
    int socket = argc > 1 ? std::atoi(argv[1]) : 3, type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
        std::cerr << "xpto-worker: started by a session of xpto, with a socket as its descriptor; not for people\n";
        return 2;
    }
    return pto::backend::serve(socket);
}
