/** Operations on many runs, with their progress. */
import type { Dialect } from "../Dialect.ts"

export const operations = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  // `filter`, `options`, `functions` and `failures` are JSON texts. `lease_until` is 0 while no node holds the operation.
  `CREATE TABLE operations (
    env_id ${text} NOT NULL, operation_id ${text} NOT NULL, format ${integer} NOT NULL, kind ${text} NOT NULL,
    state ${text} NOT NULL, total ${integer} NOT NULL, done ${integer} NOT NULL, skipped ${integer} NOT NULL,
    failed ${integer} NOT NULL, waiting ${text}, error ${text}, created_at ${integer} NOT NULL, created_by ${text} NOT NULL,
    started_at ${integer}, ended_at ${integer}, last_run_id ${text} NOT NULL, after_run_id ${text},
    fence ${integer} NOT NULL, lease_until ${integer} NOT NULL,
    idempotency_key ${text}, filter ${text} NOT NULL, options ${text} NOT NULL, functions ${text}, failures ${text} NOT NULL,
    PRIMARY KEY (env_id, operation_id)
  )${table}`,
  `CREATE INDEX operations_open ON operations (env_id, operation_id) WHERE ended_at IS NULL`,
  `CREATE UNIQUE INDEX operations_keyed ON operations (env_id, idempotency_key) WHERE idempotency_key IS NOT NULL`,
  `CREATE INDEX operations_ended ON operations (ended_at) WHERE ended_at IS NOT NULL`,
  // Retries that wait for their time, by the run of their first attempt.
  `CREATE INDEX deliveries_retrying ON deliveries (env_id, first_run_id) WHERE first_run_id IS NOT NULL`
]
