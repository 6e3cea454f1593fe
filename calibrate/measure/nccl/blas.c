/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure/nccl/blas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define STRING_OF(x)   #x
#define NAME_OF(major) "libcublasLt.so." STRING_OF(major)

struct gl_blas {
    void *library;
    cublasLtHandle_t handle;
    __typeof__(&cublasLtCreate) create;
    __typeof__(&cublasLtDestroy) destroy;
    __typeof__(&cublasLtMatmulDescCreate) operation_create;
    __typeof__(&cublasLtMatmulDescDestroy) operation_destroy;
    __typeof__(&cublasLtMatmulDescSetAttribute) operation_set;
    __typeof__(&cublasLtMatrixLayoutCreate) layout_create;
    __typeof__(&cublasLtMatrixLayoutDestroy) layout_destroy;
    __typeof__(&cublasLtMatmulPreferenceCreate) preference_create;
    __typeof__(&cublasLtMatmulPreferenceDestroy) preference_destroy;
    __typeof__(&cublasLtMatmulPreferenceSetAttribute) preference_set;
    __typeof__(&cublasLtMatmulAlgoGetHeuristic) heuristic;
    __typeof__(&cublasLtMatmul) matmul;
};

/* ---- the library ---- */

static bool find(const gl_blas *b, const char *name, void *function)
{
    void *symbol = dlsym(b->library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_all(gl_blas *b)
{
    return find(b, "cublasLtCreate", &b->create) && find(b, "cublasLtDestroy", &b->destroy) &&
           find(b, "cublasLtMatmulDescCreate", &b->operation_create) &&
           find(b, "cublasLtMatmulDescDestroy", &b->operation_destroy) &&
           find(b, "cublasLtMatmulDescSetAttribute", &b->operation_set) &&
           find(b, "cublasLtMatrixLayoutCreate", &b->layout_create) &&
           find(b, "cublasLtMatrixLayoutDestroy", &b->layout_destroy) &&
           find(b, "cublasLtMatmulPreferenceCreate", &b->preference_create) &&
           find(b, "cublasLtMatmulPreferenceDestroy", &b->preference_destroy) &&
           find(b, "cublasLtMatmulPreferenceSetAttribute", &b->preference_set) &&
           find(b, "cublasLtMatmulAlgoGetHeuristic", &b->heuristic) &&
           find(b, "cublasLtMatmul", &b->matmul);
}

/* By its plain name (the loader looks where this program was told to), then where the build saw it.
 */
static void *load(void)
{
    void *library = dlopen(NAME_OF(CUBLAS_VER_MAJOR), RTLD_NOW | RTLD_LOCAL);
    /* cppcheck-suppress resourceLeak ; kept as long as the program runs */
    return library != NULL
               ? library
               : dlopen(GL_CUDA_LIBRARY_DIR "/" NAME_OF(CUBLAS_VER_MAJOR), RTLD_NOW | RTLD_LOCAL);
}

bool gl_blas_open(gl_blas **blas, gl_error *err)
{
    gl_blas *b = calloc(1, sizeof *b);
    if (b == NULL)
        return gl_fail(err, GL_ERROR_SYSTEM, "out of memory");
    b->library = load();
    bool found = b->library != NULL && find_all(b);
    if (found && b->create(&b->handle) == CUBLAS_STATUS_SUCCESS) {
        *blas = b;
        return true;
    }
    gl_fail(err, GL_ERROR_DEVICE, "%s %s", NAME_OF(CUBLAS_VER_MAJOR),
            found ? "cannot be started on this GPU"
                  : "cannot be loaded: install cuBLAS of the CUDA version of this build, or leave "
                    "out --compute and --overlap");
    gl_blas_close(b);
    return false;
}

void gl_blas_close(gl_blas *blas)
{
    if (blas == NULL)
        return;
    if (blas->handle != NULL)
        blas->destroy(blas->handle);
    if (blas->library != NULL)
        dlclose(blas->library);
    free(blas);
}

/* ---- a GEMM ---- */

static bool describe(gl_blas *b, gl_gemm *g)
{
    /* The library counts by columns: rows of [n,k] are columns of k × n, hence the transposition,
     * which is also the only form that it has for FP8. */
    cudaDataType_t type = g->shape.dtype == GL_FP8 ? CUDA_R_8F_E4M3 : CUDA_R_16BF;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    uint64_t m = (uint64_t)g->shape.m, n = (uint64_t)g->shape.n, k = (uint64_t)g->shape.k;
    return b->operation_create(&g->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) ==
               CUBLAS_STATUS_SUCCESS &&
           b->operation_set(g->operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                            sizeof transposed) == CUBLAS_STATUS_SUCCESS &&
           b->layout_create(&g->weights, type, k, n, (int64_t)k) == CUBLAS_STATUS_SUCCESS &&
           b->layout_create(&g->inputs, type, k, m, (int64_t)k) == CUBLAS_STATUS_SUCCESS &&
           b->layout_create(&g->outputs, CUDA_R_16BF, n, m, (int64_t)n) == CUBLAS_STATUS_SUCCESS;
}

static bool choose(gl_blas *b, gl_gemm *g)
{
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t result;
    size_t workspace = GL_BLAS_WORKSPACE;
    int count = 0;
    memset(&result, 0, sizeof result);
    bool ok = b->preference_create(&preference) == CUBLAS_STATUS_SUCCESS &&
              b->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                sizeof workspace) == CUBLAS_STATUS_SUCCESS &&
              b->heuristic(b->handle, g->operation, g->weights, g->inputs, g->outputs, g->outputs,
                           preference, 1, &result, &count) == CUBLAS_STATUS_SUCCESS &&
              count > 0 && result.state == CUBLAS_STATUS_SUCCESS;
    if (preference != NULL)
        b->preference_destroy(preference);
    g->algorithm = result.algo;
    return ok;
}

bool gl_gemm_prepare(gl_blas *blas, const gl_gemm_shape *shape, gl_gemm *gemm, gl_error *err)
{
    memset(gemm, 0, sizeof *gemm);
    gemm->shape = *shape;
    if (describe(blas, gemm) && choose(blas, gemm))
        return true;
    gl_gemm_release(blas, gemm);
    if (err != NULL)
        err->status = GL_OK;
    return false;
}

void gl_gemm_release(gl_blas *blas, gl_gemm *gemm)
{
    if (gemm->operation != NULL)
        blas->operation_destroy(gemm->operation);
    if (gemm->weights != NULL)
        blas->layout_destroy(gemm->weights);
    if (gemm->inputs != NULL)
        blas->layout_destroy(gemm->inputs);
    if (gemm->outputs != NULL)
        blas->layout_destroy(gemm->outputs);
    gemm->operation = NULL;
    gemm->weights = gemm->inputs = gemm->outputs = NULL;
}

bool gl_gemm_run(gl_blas *blas, const gl_gemm *gemm, const void *weights, const void *inputs,
                 void *outputs, void *workspace, cudaStream_t stream, gl_error *err)
{
    const float one = 1, zero = 0;
    cublasStatus_t status =
        blas->matmul(blas->handle, gemm->operation, &one, weights, gemm->weights, inputs,
                     gemm->inputs, &zero, outputs, gemm->outputs, outputs, gemm->outputs,
                     &gemm->algorithm, workspace, GL_BLAS_WORKSPACE, stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        return true;
    return gl_fail(err, GL_ERROR_DEVICE, "cublasLtMatmul of %lld x %lld x %lld %s: status %d",
                   (long long)gemm->shape.m, (long long)gemm->shape.n, (long long)gemm->shape.k,
                   gl_dtype_name(gemm->shape.dtype), (int)status);
}
