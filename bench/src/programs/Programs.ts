/** The programs that the suites about jobs measure. */
import type { Service } from "./Services.ts"

export interface Program {
  readonly name: string
  readonly file: URL
  /** The server that it uses; none where it brings its own. */
  readonly service?: Service
  /** Handed to the program. */
  readonly variant?: string
  /** Others are compared with it. */
  readonly isLimit?: boolean
}

const target = (name: string): URL => new URL(`../targets/${name}.ts`, import.meta.url)

export const rawSqlite: Program = { name: "raw SQLite", file: target("rawSqlite"), isLimit: true }
export const rawPostgres: Program = { name: "raw PostgreSQL", file: target("rawPostgres"), service: "postgres" }
export const weftSqlite: Program = { name: "Weft, SQLite", file: target("weftProgram") }
export const weftPostgres: Program = { name: "Weft, PostgreSQL", file: target("weftProgram"), service: "postgres" }
