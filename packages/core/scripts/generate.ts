/** Writes the files that derive from the table of operations: npm run generate -w packages/core */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { generated, root } from "./Generated.ts"

for (const [path, text] of generated()) writeFileSync(join(root, path), text)
