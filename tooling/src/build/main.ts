/** Bundles every published package with tsup. Types come from `tsc -b`, which `npm run build` runs first. */
import { execFileSync } from "node:child_process"
import { globSync, rmSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages, root } from "./published.ts"

for (const { folder, manifest } of publishedPackages()) {
  // What sources of former times were made into is not to be published.
  for (const path of globSync(join(root, folder, "dist/**/*.{js,js.map}"))) rmSync(path)
  execFileSync(join(root, "node_modules/.bin/tsup"), { cwd: join(root, folder), stdio: "inherit" })
  console.log(`built ${manifest.name}`)
}
