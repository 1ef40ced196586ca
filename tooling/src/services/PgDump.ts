/** Installs PostgreSQL from its Debian package if `pg_dump` and `psql` are missing. The npm package does not contain them. */
import { existsSync, globSync } from "node:fs"
import { join } from "node:path"
import { installed } from "./Debian.ts"

/** Returns the folder of the server and the tools of one PostgreSQL release. */
export const pgDump = (): string => {
  const found = folder()
  if (found !== null) return found
  installed("PostgreSQL with pg_dump", ["pg_dump"], ["postgresql"])
  const made = folder()
  if (made === null)
    throw new Error("pg_dump is installed, but not the server of the same release. Run: apt-get install postgresql")
  return made
}

const programs = ["postgres", "pg_dump", "psql"]

const folder = (): string | null =>
  globSync("/usr/lib/postgresql/*/bin").find((bin) => programs.every((name) => existsSync(join(bin, name)))) ?? null
