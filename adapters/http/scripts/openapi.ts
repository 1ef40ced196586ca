/** Writes the OpenAPI document of the API to `docs/openapi.json`. */
import { writeFile } from "node:fs/promises"
import { documentFile, documentText } from "./document.ts"

await writeFile(documentFile, documentText())
