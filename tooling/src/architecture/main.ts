/** `npm run wings`: draws the imports between the wings for ARCHITECTURE.md. `npm run tidy` compares the file with them. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readRepository } from "../Repository.ts"
import { picture } from "../rules/wingsPicture.ts"
import { drawWings } from "./Drawing.ts"
import { importsOfWings } from "./Imports.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
writeFileSync(join(root, picture), drawWings(importsOfWings(readRepository(root))))
