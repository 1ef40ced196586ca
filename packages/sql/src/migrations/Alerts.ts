/** Alert rules with their states. */
import type { Dialect } from "../Dialect.ts"

export const alerts = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE alert_rules (
    env_id ${text} NOT NULL, alert_id ${text} NOT NULL, project_id ${text}, enabled ${integer} NOT NULL,
    due_at ${integer} NOT NULL, record ${text} NOT NULL,
    PRIMARY KEY (env_id, alert_id)
  )${table}`,
  `CREATE INDEX alert_rules_due ON alert_rules (due_at) WHERE enabled = 1`
]
