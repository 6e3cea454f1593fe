/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NCCL's topology XML: what NCCL_TOPO_FILE gives it and NCCL_TOPO_DUMP_FILE gets from it. */
#ifndef GL_DOCTOR_TOPO_XML_H
#define GL_DOCTOR_TOPO_XML_H

#include "calibrate/doctor/quote.h"
#include "common/error.h"

#include <stdbool.h>

enum { GL_XML_DEPTH_MAX = 64, GL_XML_DEVICES_MAX = 1024, GL_XML_LINKS_MAX = 8192 };

typedef struct gl_xml_gpu {
    int dev, rank, gdr; /* −1 unknown */
    const char *bus;    /* of the PCI device that it is */
    const char *speed;  /* "32.0 GT/s PCIe"; "" unknown */
    int width;          /* lanes; 0 unknown */
    int cpu;            /* index of the <cpu> around it */
    int bridges;        /* PCI devices between the CPU and the GPU */
    const char *bridge; /* bus id of the outermost one; "" */
    gl_quote quote;
} gl_xml_gpu;

typedef struct gl_xml_net {
    const char *name;
    int dev, gdr;       /* −1 unknown */
    double bytes_per_s; /* 0 unknown */
    bool is_rdma;       /* has a GUID: InfiniBand or RoCE, no socket */
    int width, cpu, bridges;
    const char *bridge;
    gl_quote quote;
} gl_xml_net;

typedef struct gl_xml_link {
    int gpu;            /* index in gpus */
    const char *target; /* bus id */
    int count;
    bool to_switch; /* NVSwitch, or what stands for it in a virtual machine */
    gl_quote quote;
} gl_xml_link;

typedef struct gl_topo_xml {
    const char *file;
    int cpu_count;
    int numa[64]; /* of the CPUs */
    gl_xml_gpu gpus[GL_XML_DEVICES_MAX];
    size_t gpu_count;
    gl_xml_net nets[GL_XML_DEVICES_MAX];
    size_t net_count;
    gl_xml_link links[GL_XML_LINKS_MAX];
    size_t link_count;
} gl_topo_xml;

/* Reads a whole document. What is not XML, not closed, too deep or holds graphs instead of a system
 * is an input error with its line. */
bool gl_topo_xml_read(const char *text, size_t length, const char *file, gl_arena *arena,
                      gl_topo_xml **topology, gl_error *err);

#endif
