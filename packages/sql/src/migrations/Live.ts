/** Live builds. A live build serves its project instead of the deployed build until it ends. */
import type { Dialect } from "../Dialect.ts"

export const live = ({ types: { text }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE live_builds (
    project_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, build_id ${text} NOT NULL, manifest ${text} NOT NULL
  )${table}`,
  `CREATE INDEX live_builds_of_env ON live_builds (env_id)`
]
