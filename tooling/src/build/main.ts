/** Bundles every published package with tsup, and the console with Vite. Types come from `tsc -b`, which `npm run build` runs first. */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages, root } from "./published.ts"

/**
 * Built modules import the internals of core by a path without types. `@weft/core/internal` is null outside this
 * repository, so that no host can depend on it.
 */
const closeInternals = (path: string): void => {
  const built = readFileSync(path, "utf8")
  const closed = built.replaceAll('"@weft/core/internal"', '"@weft/core/package-private"')
  if (closed !== built) writeFileSync(path, closed)
}

for (const { folder, manifest } of publishedPackages()) {
  if (existsSync(join(root, folder, "vite.config.ts"))) {
    execFileSync(join(root, "node_modules/.bin/vite"), ["build"], { cwd: join(root, folder), stdio: "inherit" })
    console.log(`built ${manifest.name}`)
    continue
  }
  // Output of deleted sources must not be published.
  for (const path of globSync(join(root, folder, "dist/**/*.{js,js.map}"))) rmSync(path)
  execFileSync(join(root, "node_modules/.bin/tsup"), { cwd: join(root, folder), stdio: "inherit" })
  for (const path of globSync(join(root, folder, "dist/**/*.js"))) closeInternals(path)
  console.log(`built ${manifest.name}`)
}
