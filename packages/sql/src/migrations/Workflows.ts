/** Durable runs: their recorded steps, what they wait for, their tokens, and the deliveries that continue them. */
import type { Dialect } from "../Dialect.ts"

export const workflows = ({ types: { text, integer }, table, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `ALTER TABLE runs ADD COLUMN activations ${integer}`,
  // Set on running runs that no node executes.
  `ALTER TABLE runs ADD COLUMN waiting ${text}`,
  // Set on running runs whose cleanup was requested, and on those that ended after one.
  `ALTER TABLE runs ADD COLUMN cleanup_until ${integer}`,
  // The field `for` of `waiting`.
  `ALTER TABLE runs ADD COLUMN waiting_for ${text}`,
  `ALTER TABLE runs ADD COLUMN steps ${integer}`,
  `ALTER TABLE deliveries ADD COLUMN continues ${text}`,
  // The runs that nodes execute are few, however many are suspended.
  `CREATE INDEX runs_held ON runs (node_id) WHERE status = 'running' AND waiting IS NULL`,
  `CREATE INDEX runs_waiting ON runs (env_id, waiting_for, run_id)
    WHERE status = 'running' AND waiting_for IS NOT NULL`,
  `CREATE INDEX deliveries_continuing ON deliveries (env_id, continues) WHERE continues IS NOT NULL`,
  // Large columns are last.
  `CREATE TABLE workflow_steps (
    env_id ${text} NOT NULL, run_id ${text} NOT NULL, position ${integer} NOT NULL, seq ${integer} NOT NULL,
    kind ${text} NOT NULL, name ${text} NOT NULL, ok ${integer} NOT NULL, attempts ${integer} NOT NULL,
    started_at ${integer} NOT NULL, ended_at ${integer} NOT NULL, result ${text},
    PRIMARY KEY (env_id, run_id, position)
  )${table}`,
  `CREATE TABLE workflow_waits (
    env_id ${text} NOT NULL, run_id ${text} NOT NULL, seq ${integer} NOT NULL, kind ${text} NOT NULL,
    name ${text} NOT NULL, event_type ${text}, child_event_id ${text}, token_seq ${integer}, match_path ${text},
    match_value ${text}, attempts ${integer} NOT NULL, since ${integer} NOT NULL, until ${integer}, match ${text},
    outcome ${text},
    PRIMARY KEY (env_id, run_id, seq)
  )${clusteredTable}`,
  // Pending calls, of which a parent may wait for some.
  `CREATE INDEX deliveries_of_calls ON deliveries (env_id, event_id) WHERE run_type = 'call'`,
  `CREATE INDEX workflow_waits_for_children ON workflow_waits (env_id, child_event_id)
    WHERE child_event_id IS NOT NULL AND outcome IS NULL`,
  `CREATE TABLE workflow_tokens (
    env_id ${text} NOT NULL, run_id ${text} NOT NULL, seq ${integer} NOT NULL, name ${text} NOT NULL,
    state ${text} NOT NULL, token_hash ${text} NOT NULL, secret ${text} NOT NULL, created_at ${integer} NOT NULL,
    expires_at ${integer}, completed_at ${integer}, result ${text},
    PRIMARY KEY (env_id, run_id, seq)
  )${table}`,
  `CREATE UNIQUE INDEX workflow_tokens_by_hash ON workflow_tokens (token_hash)`,
  // Only waits that an event may end have entries.
  `CREATE INDEX workflow_waits_by_match
    ON workflow_waits (env_id, event_type, match_path, match_value, run_id, seq)
    WHERE event_type IS NOT NULL AND outcome IS NULL`,
  // Statements that do not compare the time cannot use it: a planner without statistics would prefer it for matches.
  `CREATE INDEX workflow_waits_by_age ON workflow_waits (env_id, event_type, since)
    WHERE event_type IS NOT NULL AND outcome IS NULL AND since >= 0`,
  // Due schedules of all environments but some, and of one: the scheduler is fair between environments.
  `DROP INDEX schedules_by_due`,
  `CREATE INDEX schedules_by_due ON schedules (due_at, schedule_id, env_id)`,
  `CREATE INDEX schedules_due_of_env ON schedules (env_id, due_at, schedule_id)`
]
