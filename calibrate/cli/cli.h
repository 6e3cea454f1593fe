/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of gpulink-calibrate. */
#ifndef GL_CALIBRATE_CLI_H
#define GL_CALIBRATE_CLI_H

/* Runs the program; returns its exit status. Also callable from tests. */
int gl_calibrate_main(int argc, char **argv);

#endif
