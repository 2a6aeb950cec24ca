#include "replay/calibrate_command.h"

int main(int argc, char **argv)
{
    return rh_calibrate_command_run(argc, argv);
}
