/**
 * Proves what is published: packs every built package as npm would, looks into the archives, installs them into an empty
 * project outside the repository, loads each in plain Node, compiles against their types, and runs the end-to-end
 * suite against the reference server on top of them. With `--write`, writes their sizes into the page about them.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publishedPackages, root } from "../build/published.ts"
import { type Archive, pack } from "./Archive.ts"
import { faultsInContents } from "./Contents.ts"
import { faultsByLinters } from "./Linters.ts"
import { bundledSizeOf, driftOf, sizeOf, tableOf, withTable } from "./Sizes.ts"
import { Stranger } from "./Stranger.ts"

const page = join(root, "docs/packages.md")

/** What people put into bundles of their own. */
const bundled = ["@weft/client", "@weft/sdk"]

const end = (what: string, faults: ReadonlyArray<string>): void => {
  if (faults.length > 0) throw new Error(`${what}:\n${faults.join("\n")}`)
}

const inspect = async (archives: ReadonlyArray<Archive>): Promise<void> => {
  end("The archives hold what they should not", archives.flatMap(faultsInContents))
  end("The archives are packed wrongly", await faultsByLinters(archives))
  console.log(`packed ${archives.length} packages: publint and "are the types wrong" find nothing`)
}

const install = (stranger: Stranger, archives: ReadonlyArray<Archive>): void => {
  const millis = stranger.install(archives)
  const copies = stranger.copiesOf("effect")
  if (copies.length !== 1) throw new Error(`There are ${copies.length} copies of effect: ${copies.join(", ")}`)
  console.log(`installed in ${Math.round(millis / 1000)} s, with one copy of effect`)
}

const measure = async (archives: ReadonlyArray<Archive>, { place }: Stranger): Promise<void> => {
  const sizes = archives.map((archive) => sizeOf(archive, place))
  const bundles = new Map<string, number>()
  for (const name of bundled) bundles.set(name, await bundledSizeOf(name, place))
  const table = tableOf(sizes, bundles)
  const text = readFileSync(page, "utf8")
  if (process.argv.includes("--write")) writeFileSync(page, withTable(text, table))
  else end("docs/packages.md is out of date: npm run smoke -- --write", driftOf(text, table))
}

const serve = ({ place }: Stranger): void => {
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
  const stranger = new Stranger(join(place, "stranger"))
  install(stranger, archives)
  for (const [name, names] of stranger.load(archives)) console.log(`loads ${name}: ${names} exports`)
  for (const said of stranger.runCommands(archives)) console.log(`runs ${said}`)
  stranger.compile(archives)
  console.log("compiles against all types, as Node resolves them and as bundlers do")
  console.log(`runs ${stranger.runPrograms(archives)} programs of the READMEs`)
  await measure(archives, stranger)
  serve(stranger)
} finally {
  rmSync(place, { recursive: true, force: true })
}
