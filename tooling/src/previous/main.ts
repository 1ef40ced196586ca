/**
 * `npm run keep-previous -- REVISION`: keeps the stores, the core and the contracts of a revision, the last release, as
 * one readable file. Tests run it beside today's code, because both run side by side while nodes are upgraded.
 *
 * The file is tracked: a test that took the revision out of the history would fail in a shallow clone, or where the
 * history was written anew. Only this script needs the revision.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "tsup"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const target = join(root, "adapters/postgres/test/fixtures/previous")

const sources = {
  "@weft/core": "packages/core/src",
  "@weft/sql": "packages/sql/src",
  "@weft/contract": "packages/contract/src",
  "@weft/postgres": "adapters/postgres/src"
}

/** The revision's files, in a folder of their own. */
const unpack = (revision: string, folder: string): void => {
  const archive = execFileSync("git", ["archive", revision, ...Object.values(sources)], {
    cwd: root,
    maxBuffer: 2 ** 28
  })
  execFileSync("tar", ["-x", "-C", folder], { input: archive })
}

/** The number of the last step of the revision's migrations. */
const lastStep = (folder: string): number => {
  const migrations = readFileSync(join(folder, sources["@weft/sql"], "Migrations.ts"), "utf8")
  const numbers = [...migrations.matchAll(/"(\d{4})_\w+":/g)].map(([, number]) => Number(number))
  if (numbers.length === 0) throw new Error("The revision has no migrations")
  return Math.max(...numbers)
}

const keep = async (name: string): Promise<void> => {
  const revision = execFileSync("git", ["rev-parse", "--verify", `${name}^{commit}`], { cwd: root, encoding: "utf8" })
  const folder = mkdtempSync(join(tmpdir(), "weft-previous-"))
  try {
    unpack(revision.trim(), folder)
    const entry = [
      `export * as core from "@weft/core"`,
      `export * as sql from "@weft/sql"`,
      `export { databaseContracts } from "@weft/contract"`,
      `export { stores } from "@weft/postgres"`,
      `export const revision = "${revision.trim()}"`,
      `export const lastStep = ${lastStep(folder)}`
    ]
    writeFileSync(join(folder, "index.ts"), `${entry.join("\n")}\n`)
    await build({
      config: false,
      entry: [join(folder, "index.ts")],
      outDir: target,
      format: "esm",
      target: "node24",
      platform: "node",
      tsconfig: join(root, "tsconfig.base.json"),
      // What is installed now: it runs both versions.
      external: [/^effect($|\/)/, /^@effect\//, "vitest", "fast-check", "cron-parser"],
      noExternal: [/^@weft\//],
      esbuildOptions: (options) => {
        options.absWorkingDir = folder
        options.alias = Object.fromEntries(
          Object.entries(sources).map(([name, path]) => [name, join(folder, path, "index.ts")])
        )
      },
      silent: true
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const [revision] = process.argv.slice(2)
if (revision === undefined) {
  console.error("usage: npm run keep-previous -- REVISION")
  process.exitCode = 2
} else {
  await keep(revision)
}
