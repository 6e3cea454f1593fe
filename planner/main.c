/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "planner/cli/cli.h"

int main(int argc, char **argv)
{
    return gl_planner_main(argc, argv);
}
