/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What compute and communication lose beside each other, from measured series. */
#include "planner/core/stage_plans.h"
#include "tests/support.h"

static const double COMPUTE_LOSS = 0.3, SLOWDOWN = 0.2; /* shares of their rates */

/* Together: both at their lowered rates until one is done, then the other alone. */
static gl_overlap_rate series(double compute_s, double communication_s)
{
    double compute_ends = compute_s / (1 - COMPUTE_LOSS);
    double communication_ends = communication_s / (1 - SLOWDOWN);
    double beside = fmin(compute_ends, communication_ends);
    double together = beside + fmax(compute_s - beside * (1 - COMPUTE_LOSS),
                                    communication_s - beside * (1 - SLOWDOWN));
    return (gl_overlap_rate){.transport = GL_TRANSPORT_SHM,
                             .compute_alone_s = compute_s,
                             .communication_alone_s = communication_s,
                             .together_s = together};
}

static void both_losses_are_found_again(void **state)
{
    (void)state;
    const gl_overlap_rate rates[] = {series(10, 4), series(20, 4), series(12, 6),
                                     series(4, 10), series(4, 20), series(6, 12)};
    const gl_cluster cluster = {.overlap = rates, .overlap_count = 6};
    gl_overlap_losses losses = gl_overlap_losses_of(&cluster);
    assert_close(losses.by_transport[GL_TRANSPORT_SHM].slowdown, SLOWDOWN, 1e-9);
    /* Per second of communication alone, which takes longer beside compute. */
    assert_close(losses.by_transport[GL_TRANSPORT_SHM].tax, COMPUTE_LOSS / (1 - SLOWDOWN), 1e-9);
    assert_true(losses.by_transport[GL_TRANSPORT_NVLINK].tax == 0);
}

static void one_side_alone_leaves_the_other_at_nothing(void **state)
{
    (void)state;
    const gl_overlap_rate rates[] = {series(10, 4), series(20, 4)};
    gl_overlap_taxes taxes = {0};
    taxes.by_transport[GL_TRANSPORT_NET_IB].value = 0.25;
    const gl_cluster cluster = {.overlap = rates, .overlap_count = 2, .overlap_taxes = &taxes};
    gl_overlap_losses losses = gl_overlap_losses_of(&cluster);
    assert_true(losses.by_transport[GL_TRANSPORT_SHM].slowdown == 0);
    assert_close(losses.by_transport[GL_TRANSPORT_SHM].tax, COMPUTE_LOSS / (1 - SLOWDOWN), 1e-9);
    assert_close(losses.by_transport[GL_TRANSPORT_NET_IB].tax, 0.25, 1e-12); /* the catalogue's */
}

/* Both tiers are busy; where they change places nothing jumps, and a faster one costs no more. */
static void the_costlier_tier_decides(void **state)
{
    (void)state;
    gl_overlap_losses losses = {0};
    losses.by_transport[GL_TRANSPORT_NVLINK].tax = 0.65;
    losses.by_transport[GL_TRANSPORT_NET_IB].tax = 0.25;
    const gl_link nv = {.transport = GL_TRANSPORT_NVLINK}, ib = {.transport = GL_TRANSPORT_NET_IB};
    const gl_cluster cluster = {.intra.link = &nv, .inter.link = &ib};
    const struct {
        double tier_s[2], tax;
        gl_transport transport, of;
    } cases[] = {
        {{0, 2}, 0.25, GL_TRANSPORT_NET_IB, GL_TRANSPORT_NET_IB},
        {{2, 0}, 0.65, GL_TRANSPORT_NVLINK, GL_TRANSPORT_NVLINK},
        {{0.2, 2}, 0.25, GL_TRANSPORT_NET_IB, GL_TRANSPORT_NET_IB},
        {{1, 2}, 0.325, GL_TRANSPORT_NET_IB, GL_TRANSPORT_NVLINK},
        {{1.999999, 2}, 0.65 * 1.999999 / 2, GL_TRANSPORT_NET_IB, GL_TRANSPORT_NVLINK},
        {{2, 1.999999}, 0.65, GL_TRANSPORT_NVLINK, GL_TRANSPORT_NVLINK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double tax;
        gl_network_time time = {.time_s = 2,
                                .tier_s = {cases[i].tier_s[0], cases[i].tier_s[1]},
                                .transport = cases[i].transport};
        assert_int_equal(gl_overlap_transport(&cluster, &losses, &time, &tax), cases[i].of);
        assert_close(tax, cases[i].tax, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_losses_are_found_again),
        cmocka_unit_test(one_side_alone_leaves_the_other_at_nothing),
        cmocka_unit_test(the_costlier_tier_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
