/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/cli/cli.h"

int main(int argc, char **argv)
{
    return gl_calibrate_main(argc, argv);
}
