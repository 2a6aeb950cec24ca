#include "replay/replay_command.h"

int main(int argc, char **argv)
{
    return rh_replay_command_run(argc, argv);
}
