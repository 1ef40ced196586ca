/**
 * `npm run keep-previous -- REVISION`: bundles the stores, the core and the contracts of a revision, usually the last
 * release, into one packed file. Tests run it together with the current code, as nodes do during a rolling upgrade.
 *
 * The tarball is tracked in git. A test that read the revision from the history would fail in a shallow clone or after a
 * rewrite of the history. Only this script needs the revision.
 */
import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "tsup"
import { tarball } from "./PreviousRelease.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const sources = {
  "@weft/core": "packages/core/src",
  "@weft/sql": "packages/sql/src",
  "@weft/contract": "packages/contract/src",
  "@weft/postgres": "adapters/postgres/src"
}

/** Extracts the source folders of the revision into `folder`. */
const unpack = (revision: string, folder: string): void => {
  const archive = execFileSync("git", ["archive", revision, ...Object.values(sources)], {
    cwd: root,
    maxBuffer: 2 ** 28
  })
  execFileSync("tar", ["-x", "-C", folder], { input: archive })
}

/** Returns the number of the last migration of the revision. */
const lastStep = (folder: string): number => {
  const migrations = readFileSync(join(folder, sources["@weft/sql"], "Migrations.ts"), "utf8")
  const numbers = [...migrations.matchAll(/"(\d{4})_\w+":/g)].map(([, number]) => Number(number))
  if (numbers.length === 0)
    throw new Error(`${sources["@weft/sql"]}/Migrations.ts of the revision contains no migrations`)
  return Math.max(...numbers)
}

/** Import paths of the revision's packages with their modules; a package may have further doors next to its index. */
const doorsIn = (folder: string): ReadonlyArray<readonly [string, string]> =>
  Object.entries(sources).flatMap(([name, path]) =>
    ["index", "adapter", "testing", "internal"]
      .map((door): readonly [string, string] => [
        door === "index" ? name : `${name}/${door}`,
        join(folder, path, `${door}.ts`)
      ])
      .filter(([, file]) => existsSync(file))
  )

/** Packs the folder with the module. The content of a tarball by npm does not depend on times and users. */
const pack = (folder: string): void => {
  const manifest = { name: "weft-previous", version: "0.0.0", license: "Apache-2.0", type: "module" }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  const output = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: folder,
    encoding: "utf8"
  })
  copyFileSync(join(folder, output.trim()), tarball)
}

const bundleRevision = async (name: string): Promise<void> => {
  const revision = execFileSync("git", ["rev-parse", "--verify", `${name}^{commit}`], { cwd: root, encoding: "utf8" })
  const folder = mkdtempSync(join(tmpdir(), "weft-previous-"))
  try {
    unpack(revision.trim(), folder)
    const entry = [
      `export * as core from "./core.ts"`,
      `export * as sql from "@weft/sql"`,
      `export { databaseContracts } from "@weft/contract"`,
      `export { stores } from "@weft/postgres"`,
      `export const revision = "${revision.trim()}"`,
      `export const lastStep = ${lastStep(folder)}`
    ]
    writeFileSync(join(folder, "index.ts"), `${entry.join("\n")}\n`)
    const doors = [...doorsIn(folder)]
      .filter(([name]) => name.startsWith("@weft/core"))
      .map(([name]) => `export * from "${name}"`)
    writeFileSync(join(folder, "core.ts"), `${doors.join("\n")}\n`)
    await build({
      config: false,
      entry: [join(folder, "index.ts")],
      outDir: join(folder, "package"),
      format: "esm",
      target: "node24",
      platform: "node",
      tsconfig: join(root, "tsconfig.base.json"),
      // Both versions run on the packages that are installed now.
      external: [/^effect($|\/)/, /^@effect\//, "vitest", "fast-check", "cron-parser"],
      noExternal: [/^@weft\//],
      esbuildOptions: (options) => {
        options.absWorkingDir = folder
        options.alias = Object.fromEntries(doorsIn(folder))
      },
      silent: true
    })
    pack(join(folder, "package"))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const [revision] = process.argv.slice(2)
if (revision === undefined) {
  console.error("usage: npm run keep-previous -- REVISION")
  process.exitCode = 2
} else {
  await bundleRevision(revision)
}
