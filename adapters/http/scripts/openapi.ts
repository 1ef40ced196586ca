/** Writes the files derived from the API: `docs/openapi.json` and the tables of `docs/api.md`. */
import { readFile, writeFile } from "node:fs/promises"
import { documentFile, documentText } from "./document.ts"
import { guideFile, guideWithTables } from "./guide.ts"

await writeFile(documentFile, documentText())
await writeFile(guideFile, guideWithTables(await readFile(guideFile, "utf8")))
