/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command line of gpulink-plan. */
#ifndef GL_PLANNER_CLI_H
#define GL_PLANNER_CLI_H

/* Runs the program; returns its exit status. Also callable from tests. */
int gl_planner_main(int argc, char **argv);

#endif
