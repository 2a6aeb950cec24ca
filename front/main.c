#include "front/front.h"

int main(int argc, char **argv)
{
    return rh_front_run(argc, argv);
}
