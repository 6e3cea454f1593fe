/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/collective.h"
#include "tests/support.h"

static void names_parse_back(void **state)
{
    (void)state;
    for (int i = 0; i < GL_COLLECTIVE_COUNT; i++) {
        gl_collective found = GL_COLLECTIVE_COUNT;
        assert_true(gl_collective_parse(gl_collective_name((gl_collective)i), &found));
        assert_int_equal(found, i);
    }
    for (int i = 0; i < GL_DTYPE_COUNT; i++) {
        gl_dtype found = GL_DTYPE_COUNT;
        assert_true(gl_dtype_parse(gl_dtype_name((gl_dtype)i), &found));
        assert_int_equal(found, i);
    }
    for (int i = 0; i < GL_TRANSPORT_COUNT; i++) {
        gl_transport found = GL_TRANSPORT_COUNT;
        assert_true(gl_transport_parse(gl_transport_name((gl_transport)i), &found));
        assert_int_equal(found, i);
    }
}

static void names_are_the_contract(void **state)
{
    (void)state;
    assert_string_equal(gl_collective_name(GL_ALL_REDUCE), "all_reduce");
    assert_string_equal(gl_collective_name(GL_ALLTOALL), "alltoall");
    assert_string_equal(gl_collective_name(GL_SENDRECV), "sendrecv");
    assert_string_equal(gl_dtype_name(GL_BF16), "bf16");
    assert_string_equal(gl_transport_name(GL_TRANSPORT_PCIE_P2P), "pcie-p2p");
    assert_string_equal(gl_transport_name(GL_TRANSPORT_NET_IB), "net-ib");
}

static void other_texts_are_refused_and_leave_the_output(void **state)
{
    (void)state;
    gl_collective collective = GL_REDUCE;
    gl_dtype dtype = GL_FP16;
    gl_transport transport = GL_TRANSPORT_SHM;
    assert_false(gl_collective_parse("all_reduce ", &collective));
    assert_false(gl_collective_parse("", &collective));
    assert_false(gl_dtype_parse("fp12", &dtype));
    assert_false(gl_transport_parse("NVLINK", &transport));
    assert_int_equal(collective, GL_REDUCE);
    assert_int_equal(dtype, GL_FP16);
    assert_int_equal(transport, GL_TRANSPORT_SHM);
}

static void types_of_nccl_tests(void **state)
{
    (void)state;
    const struct {
        const char *name;
        gl_dtype dtype;
    } cases[] = {{"float", GL_FP32},    {"half", GL_FP16},   {"bfloat16", GL_BF16},
                 {"double", GL_FP64},   {"f8e4m3", GL_FP8},  {"fp8_e5m2", GL_FP8},
                 {"int8", GL_INT8},     {"uint8", GL_UINT8}, {"int32", GL_INT32},
                 {"uint32", GL_UINT32}, {"int64", GL_INT64}, {"uint64", GL_UINT64}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gl_dtype found;
        assert_true(gl_dtype_parse(cases[i].name, &found));
        assert_int_equal(found, cases[i].dtype);
    }
}

static void element_sizes(void **state)
{
    (void)state;
    const double sizes[GL_DTYPE_COUNT] = {0, 4, 2, 2, 1, 1, 1, 4, 4, 8, 8, 8};
    for (int i = 0; i < GL_DTYPE_COUNT; i++)
        assert_true(gl_dtype_bytes((gl_dtype)i) == sizes[i]);
}

static void bus_factors_are_those_of_nccl_tests(void **state)
{
    (void)state;
    assert_close(gl_bus_factor(GL_ALL_REDUCE, 8), 1.75, 1e-15);
    assert_close(gl_bus_factor(GL_ALL_REDUCE, 2), 1.0, 1e-15);
    const gl_collective shared[] = {GL_ALL_GATHER, GL_REDUCE_SCATTER, GL_ALLTOALL, GL_GATHER,
                                    GL_SCATTER};
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        assert_close(gl_bus_factor(shared[i], 4), 0.75, 1e-15);
        assert_true(gl_bus_factor(shared[i], 1) == 0.0);
    }
    assert_true(gl_bus_factor(GL_ALL_REDUCE, 1) == 0.0);
    assert_true(gl_bus_factor(GL_SENDRECV, 2) == 1.0);
    assert_true(gl_bus_factor(GL_BROADCAST, 16) == 1.0);
    assert_true(gl_bus_factor(GL_REDUCE, 1) == 1.0);
}

static void measured_ones_are_listed(void **state)
{
    char list[200] = "";
    (void)state;
    for (int i = 0; i < GL_COLLECTIVE_COUNT; i++)
        if (gl_collective_is_measured((gl_collective)i))
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                     list[0] != '\0' ? ", " : "", gl_collective_name((gl_collective)i));
    assert_string_equal(list, GL_MEASURED_COLLECTIVES);
}

static void words_of_nccl_tests(void **state)
{
    (void)state;
    for (int i = 0; i < GL_COLLECTIVE_COUNT; i++) {
        char program[40];
        snprintf(program, sizeof program, "%s_perf", gl_collective_name((gl_collective)i));
        assert_string_equal(gl_nccl_tests_program((gl_collective)i), program);
    }
    for (int i = GL_DTYPE_NONE + 1; i < GL_DTYPE_COUNT; i++) {
        gl_dtype back;
        assert_true(gl_dtype_parse(gl_nccl_tests_dtype((gl_dtype)i), &back));
        assert_int_equal(back, i == GL_FP8 ? GL_FP32 : i);
    }
    assert_string_equal(gl_nccl_tests_dtype(GL_DTYPE_NONE), "float");
    assert_string_equal(gl_nccl_tests_dtype(GL_UINT32), "uint32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_parse_back),
        cmocka_unit_test(names_are_the_contract),
        cmocka_unit_test(other_texts_are_refused_and_leave_the_output),
        cmocka_unit_test(types_of_nccl_tests),
        cmocka_unit_test(element_sizes),
        cmocka_unit_test(measured_ones_are_listed),
        cmocka_unit_test(words_of_nccl_tests),
        cmocka_unit_test(bus_factors_are_those_of_nccl_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
