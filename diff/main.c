#include "common/log.h"
#include "common/stop.h"
#include "diff/diff_command.h"

int main(int argc, char **argv)
{
    rh_log_setup("pgrehearse diff", RH_LOG_INFO);
    rh_stop_install();
    return rh_diff_main(argc, argv);
}
