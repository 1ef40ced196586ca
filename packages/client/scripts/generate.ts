/** Regenerates `src/generated`: npm run generate -w packages/client */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { generated, generatedFolder } from "./Generated.ts"

mkdirSync(generatedFolder, { recursive: true })
for (const name of readdirSync(generatedFolder)) rmSync(new URL(name, generatedFolder))
for (const [name, text] of generated()) writeFileSync(new URL(name, generatedFolder), text)
