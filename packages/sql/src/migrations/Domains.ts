/** Custom domains and their certificates. */
import type { Dialect } from "../Dialect.ts"

export const domains = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE domains (
    domain_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, org_id ${text} NOT NULL, domain ${text} NOT NULL UNIQUE,
    status ${text} NOT NULL, validation_cname_name ${text} NOT NULL, validation_cname_value ${text} NOT NULL,
    routing_domain ${text}, created_at ${integer} NOT NULL, checks ${integer} NOT NULL,
    next_check_at ${integer} NOT NULL, held_until ${integer}, failed_orders ${integer} NOT NULL,
    next_order_at ${integer} NOT NULL, version ${integer} NOT NULL
  )${table}`,
  `CREATE INDEX domains_of_env ON domains (env_id, domain_id)`,
  `CREATE INDEX domains_of_org ON domains (org_id)`,
  `CREATE INDEX domains_by_check ON domains (next_check_at)`,
  `CREATE TABLE certificates (
    domain_id ${text} PRIMARY KEY, not_after ${integer} NOT NULL, renew_at ${integer} NOT NULL,
    chain ${text} NOT NULL, private_key ${text} NOT NULL
  )${table}`
]
