/** Checksums of files, and the position of the scrubber that verifies them. */
import type { Dialect } from "../Dialect.ts"

export const checksums = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `ALTER TABLE files ADD COLUMN checksum ${text}`,
  `CREATE TABLE scrubber (
    id ${integer} PRIMARY KEY, position ${text} NOT NULL, node_id ${text} NOT NULL, until ${integer} NOT NULL
  )${table}`
]
