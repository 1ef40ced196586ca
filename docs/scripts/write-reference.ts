/** Writes the pages under `docs/http`, and removes those of tags that are gone. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { referencePages } from "./ReferencePages.ts"

const folder = new URL("../http/", import.meta.url)
const pages = referencePages()

await mkdir(folder, { recursive: true })
for (const file of await readdir(folder)) if (!pages.has(file)) await rm(new URL(file, folder))
for (const [file, text] of pages) await writeFile(new URL(file, folder), text)
