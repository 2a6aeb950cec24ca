#include "replay/explain_command.h"

int main(int argc, char **argv)
{
    return rh_explain_command_run(argc, argv);
}
