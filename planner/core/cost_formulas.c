/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formulas of cost, each alone. */
#include "planner/core/cost_parts.h"

#include <math.h>

/* End-of-year payments that return the purchase with interest, less what the residual returns. */
static double annuity(double capex, double life, double residual, double r)
{
    if (!(r > 0))
        return capex * (1 - residual) / life;
    double growth = pow(1 + r, life);
    return capex * r / (1 - 1 / growth) - capex * residual * r / (growth - 1);
}

double gl_cost_amortised(gl_amortisation convention, double capex, double life_years,
                         double residual_frac, double interest_frac, double decay)
{
    switch (convention) {
    case GL_ANNUITY:
        return annuity(capex, life_years, residual_frac, interest_frac);
    case GL_DECAY:
        return capex * decay * log(10);
    case GL_STRAIGHT_LINE:
        break;
    }
    return capex * (1 - residual_frac) / life_years;
}

double gl_cost_energy(double power_w, double draw_frac, double pue, double hours,
                      double price_per_kwh)
{
    return power_w / 1000 * draw_frac * pue * hours * price_per_kwh;
}

/* Daly's equation for the best interval, whose series holds until a checkpoint takes twice the time
 * between stops. */
static double checkpoint_interval(double checkpoint_s, double mtbf_s)
{
    double part = checkpoint_s / (2 * mtbf_s);
    if (!(part < 1))
        return mtbf_s;
    return sqrt(2 * checkpoint_s * mtbf_s) * (1 + sqrt(part) / 3 + part / 9) - checkpoint_s;
}

/* Stops come at random: of the time for an interval's work, its checkpoint and what stops undo,
 * M · e^(R/M) · (e^((t+C)/M) − 1), the work is t. */
gl_checkpoints gl_cost_checkpoints(double failures_per_gpu_hour, int64_t gpus, double checkpoint_s,
                                   double restart_s)
{
    gl_checkpoints c = {
        .mtbf_s = (double)INFINITY, .interval_s = (double)INFINITY, .goodput_frac = 1};
    double rate = failures_per_gpu_hour * (double)gpus / GL_SECONDS_PER_HOUR;
    if (!(rate > 0))
        return c;
    c.mtbf_s = 1 / rate;
    c.interval_s = checkpoint_interval(checkpoint_s, c.mtbf_s);
    double work = c.interval_s * rate;
    c.goodput_frac = exp(-restart_s * rate);
    /* Without a checkpoint's time the best interval is none. */
    if (work > 0)
        c.goodput_frac *= work / expm1(work + checkpoint_s * rate);
    return c;
}
