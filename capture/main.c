#include "capture/capture_command.h"

int main(int argc, char **argv)
{
    return rh_capture_main(argc, argv);
}
