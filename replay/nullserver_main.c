#include "replay/null_command.h"

int main(int argc, char **argv)
{
    return rh_null_command_run(argc, argv);
}
