/**
 * `npm run smoke`: tests the packages as they would be published.
 *
 * - Packs every built package and checks the content of the archives.
 * - Installs the archives into an empty project outside of the repository.
 * - Loads each package in Node, and compiles against its types.
 * - Runs an end-to-end suite against a reference server that uses the installed packages.
 *
 * With `--write`, writes their sizes into `docs/packages.md`.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publishedPackages, root } from "../build/published.ts"
import { type Archive, pack } from "./Archive.ts"
import { CleanInstall } from "./CleanInstall.ts"
import { faultsInContents } from "./Contents.ts"
import { faultsByLinters } from "./Linters.ts"
import { findDrift, measureBundle, measureSize, renderTable, withTable } from "./Sizes.ts"

const page = join(root, "docs/packages.md")

/** Packages that applications bundle. */
const bundled = ["@weft/client", "@weft/sdk"]

const failOn = (what: string, faults: ReadonlyArray<string>): void => {
  if (faults.length > 0) throw new Error(`${what}:\n${faults.join("\n")}`)
}

const inspect = async (archives: ReadonlyArray<Archive>): Promise<void> => {
  failOn("Archives contain unexpected files", archives.flatMap(faultsInContents))
  failOn("publint or attw found errors in archives", await faultsByLinters(archives))
  console.log(`packed ${archives.length} packages: publint and "are the types wrong" found no errors`)
}

const install = (project: CleanInstall, archives: ReadonlyArray<Archive>): void => {
  const millis = project.install(archives)
  const copies = project.findCopies("effect")
  if (copies.length !== 1)
    throw new Error(`effect must be installed once (got ${copies.length} copies: ${copies.join(", ")})`)
  console.log(`installed in ${Math.round(millis / 1000)} s, with one copy of effect`)
}

const measure = async (archives: ReadonlyArray<Archive>, { place }: CleanInstall): Promise<void> => {
  const sizes = archives.map((archive) => measureSize(archive, place))
  const bundles = new Map<string, number>()
  for (const name of bundled) bundles.set(name, await measureBundle(name, place))
  const table = renderTable(sizes, bundles)
  const text = readFileSync(page, "utf8")
  if (process.argv.includes("--write")) writeFileSync(page, withTable(text, table))
  else failOn("docs/packages.md is out of date; run `npm run smoke -- --write`", findDrift(text, table))
}

const serve = ({ place }: CleanInstall): void => {
  cpSync(join(root, "examples/standalone/src"), join(place, "server"), { recursive: true })
  execFileSync(join(root, "node_modules/.bin/vitest"), ["run", "examples/functions/test/github.e2e.test.ts"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, WEFT_TEST_SERVER: join(place, "server/main.ts") }
  })
}

const place = mkdtempSync(join(tmpdir(), "weft-packing-"))
try {
  const archives = pack(
    publishedPackages().map(({ folder }) => folder),
    place
  )
  await inspect(archives)
  const project = new CleanInstall(join(place, "project"))
  install(project, archives)
  for (const [name, names] of project.load(archives)) console.log(`loaded ${name}: ${names} exports`)
  for (const output of project.runCommands(archives)) console.log(`ran ${output}`)
  project.compile(archives)
  console.log("compiled against all types, with the module resolution of Node and of bundlers")
  console.log(`ran ${project.runPrograms(archives)} programs of the READMEs`)
  await measure(archives, project)
  serve(project)
} finally {
  rmSync(place, { recursive: true, force: true })
}
