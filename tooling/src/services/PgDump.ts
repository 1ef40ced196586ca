/** PostgreSQL with the tools that npm's has not, `pg_dump` and `psql`: of Debian's packages, where they are missing. */
import { existsSync, globSync } from "node:fs"
import { join } from "node:path"
import { installed } from "./Debian.ts"

/** The folder of the programs of one release, server and tools. */
export const pgDump = (): string => {
  const found = folder()
  if (found !== null) return found
  installed("PostgreSQL with pg_dump", ["pg_dump"], ["postgresql"])
  const made = folder()
  if (made === null) throw new Error("pg_dump is there, but no server of its release: apt-get install postgresql")
  return made
}

const programs = ["postgres", "pg_dump", "psql"]

const folder = (): string | null =>
  globSync("/usr/lib/postgresql/*/bin").find((bin) => programs.every((name) => existsSync(join(bin, name)))) ?? null
