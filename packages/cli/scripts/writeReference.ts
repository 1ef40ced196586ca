/** Writes the table of all commands into `docs/cli.md`. */
import { writeFileSync } from "node:fs"
import { page, pageWithReference } from "./Reference.ts"

writeFileSync(page, pageWithReference())
