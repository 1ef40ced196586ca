/** Bundles every published package with tsup. Types come from `tsc -b`, which `npm run build` runs first. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { publishedPackages, root } from "./published.ts"

for (const { folder, manifest } of publishedPackages()) {
  execFileSync(join(root, "node_modules/.bin/tsup"), { cwd: join(root, folder), stdio: "inherit" })
  console.log(`built ${manifest.name}`)
}
