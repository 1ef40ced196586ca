/** Reads the database of an environment, also while no server runs. */
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { queryAt } from "@weft/bench/instruments"
import type { Environment } from "./Environment.ts"

type Row = Readonly<Record<string, unknown>>
export type Query = (text: string) => Promise<ReadonlyArray<Row>>

export const openQuery = ({ database, dataDir }: Environment): Query => {
  if (database !== null) return queryAt(database.url)
  return async (text) => {
    const file = new DatabaseSync(join(dataDir, "weft.db"), { readOnly: true })
    try {
      return file.prepare(text).all()
    } finally {
      file.close()
    }
  }
}
