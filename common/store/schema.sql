-- SPDX-License-Identifier: GPL-3.0-or-later
-- Calibration database, version 1. Embedded into the programs at build time; run in one transaction
-- together with application_id and user_version. docs/calibration-file.md explains every column.
-- SI units. Texts that are not known are empty, numbers that are not known are NULL (REAL) or 0.

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('running', 'complete', 'interrupted')),
  started_at TEXT NOT NULL,
  recorded_at TEXT NOT NULL,
  tool TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  backend TEXT NOT NULL,
  host TEXT NOT NULL,
  gpu TEXT NOT NULL,
  driver_version TEXT NOT NULL,
  cuda_version TEXT NOT NULL,
  nccl_version TEXT NOT NULL,
  environment TEXT NOT NULL,
  source TEXT NOT NULL,
  label TEXT NOT NULL,
  parameters TEXT NOT NULL,
  warnings TEXT NOT NULL
) STRICT;

CREATE TABLE curve (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  collective TEXT NOT NULL CHECK (collective IN ('all_reduce', 'all_gather', 'reduce_scatter',
    'alltoall', 'sendrecv', 'broadcast', 'reduce', 'gather', 'scatter')),
  dtype TEXT NOT NULL,
  redop TEXT NOT NULL,
  ranks INTEGER NOT NULL CHECK (ranks BETWEEN 1 AND 10000000),
  nodes INTEGER NOT NULL CHECK (nodes BETWEEN 1 AND ranks),
  ranks_per_node INTEGER NOT NULL CHECK (ranks_per_node BETWEEN 1 AND ranks),
  concurrent_groups INTEGER NOT NULL CHECK (concurrent_groups BETWEEN 1 AND 10000000),
  transport TEXT NOT NULL CHECK (transport IN ('unknown', 'nvlink', 'pcie-p2p', 'shm', 'net-ib',
    'net-roce', 'net-socket', 'host')),
  nics INTEGER NOT NULL CHECK (nics BETWEEN 0 AND 10000),
  algorithm TEXT NOT NULL,
  protocol TEXT NOT NULL,
  in_place INTEGER NOT NULL CHECK (in_place IN (0, 1)),
  root INTEGER NOT NULL CHECK (root BETWEEN -1 AND 10000000),
  CHECK (nodes * ranks_per_node >= ranks)
) STRICT;

CREATE INDEX curve_run ON curve (run_id);

-- The key holds the samples of a curve together: loading one curve never reads the others.
CREATE TABLE sample (
  curve_id INTEGER NOT NULL REFERENCES curve (id) ON DELETE CASCADE,
  size_bytes INTEGER NOT NULL CHECK (size_bytes BETWEEN 1 AND 9007199254740992),
  iterations INTEGER NOT NULL CHECK (iterations BETWEEN 0 AND 2147483647),
  time_median_s REAL NOT NULL CHECK (time_median_s BETWEEN 1e-10 AND 3.2e7),
  time_p05_s REAL CHECK (time_p05_s BETWEEN 1e-10 AND 3.2e7),
  time_p95_s REAL CHECK (time_p95_s BETWEEN 1e-10 AND 3.2e7),
  time_min_s REAL CHECK (time_min_s BETWEEN 1e-10 AND 3.2e7),
  wrong REAL CHECK (wrong >= 0),
  PRIMARY KEY (curve_id, size_bytes)
) STRICT, WITHOUT ROWID;

CREATE TABLE compute (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('gemm', 'memory', 'launch')),
  dtype TEXT NOT NULL,
  m INTEGER NOT NULL CHECK (m >= 0),
  n INTEGER NOT NULL CHECK (n >= 0),
  k INTEGER NOT NULL CHECK (k >= 0),
  time_s REAL NOT NULL CHECK (time_s BETWEEN 1e-10 AND 3.2e7),
  time_p95_s REAL CHECK (time_p95_s BETWEEN 1e-10 AND 3.2e7)
) STRICT;

CREATE INDEX compute_run ON compute (run_id);

CREATE TABLE overlap (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  transport TEXT NOT NULL CHECK (transport IN ('unknown', 'nvlink', 'pcie-p2p', 'shm', 'net-ib',
    'net-roce', 'net-socket', 'host')),
  collective TEXT NOT NULL CHECK (collective IN ('all_reduce', 'all_gather', 'reduce_scatter',
    'alltoall', 'sendrecv', 'broadcast', 'reduce', 'gather', 'scatter')),
  size_bytes INTEGER NOT NULL CHECK (size_bytes BETWEEN 1 AND 9007199254740992),
  gemm_m INTEGER NOT NULL CHECK (gemm_m >= 0),
  gemm_n INTEGER NOT NULL CHECK (gemm_n >= 0),
  gemm_k INTEGER NOT NULL CHECK (gemm_k >= 0),
  compute_alone_s REAL NOT NULL CHECK (compute_alone_s BETWEEN 1e-10 AND 3.2e7),
  communication_alone_s REAL NOT NULL CHECK (communication_alone_s BETWEEN 1e-10 AND 3.2e7),
  together_s REAL NOT NULL CHECK (together_s BETWEEN 1e-10 AND 3.2e7)
) STRICT;

CREATE INDEX overlap_run ON overlap (run_id);

CREATE TABLE topology (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE INDEX topology_run ON topology (run_id);

-- For people with the sqlite3 shell; the programs never use views.
-- Bus bandwidth = algorithm bandwidth * factor, as nccl-tests prints it.
CREATE VIEW sample_bw AS
SELECT s.curve_id, c.run_id, c.collective, c.dtype, c.ranks, c.nodes, c.transport, c.in_place,
       s.size_bytes, s.iterations, s.time_median_s, s.wrong,
       s.size_bytes / s.time_median_s AS algbw_bytes_per_s,
       s.size_bytes / s.time_median_s * CASE
         WHEN c.collective = 'all_reduce' THEN 2.0 * (c.ranks - 1) / c.ranks
         WHEN c.collective IN ('all_gather', 'reduce_scatter', 'alltoall', 'gather', 'scatter')
           THEN 1.0 * (c.ranks - 1) / c.ranks
         ELSE 1.0 END AS busbw_bytes_per_s
FROM sample AS s JOIN curve AS c ON c.id = s.curve_id;

CREATE VIEW curve_summary AS
SELECT c.id AS curve_id, c.run_id, r.label, r.source, c.collective, c.dtype, c.ranks, c.nodes,
       c.transport, c.algorithm, c.protocol, c.in_place, COUNT(s.size_bytes) AS points,
       MIN(s.size_bytes) AS smallest_bytes, MAX(s.size_bytes) AS largest_bytes
FROM curve AS c JOIN run AS r ON r.id = c.run_id LEFT JOIN sample AS s ON s.curve_id = c.id
GROUP BY c.id;
