/**
 * Proves what is published: packs every built package as npm would, lays the archives out as an installation
 * outside the repository, loads each in plain Node, compiles a consumer against their types, and runs the
 * end-to-end suite against the reference server on top of them.
 */
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { bundledDependencies } from "../Layout.ts"
import { type Published, publishedPackages, root } from "./published.ts"

/** Its suites register tests as they load, which only a test runner allows. */
const loadedByRunnerOnly = ["@weft/contract"]

const run = (command: string, args: ReadonlyArray<string>, cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

/** Third-party packages are linked, except those that ours have to carry inside. */
const linkDependencies = (modules: string): void => {
  const source = join(root, "node_modules")
  for (const name of readdirSync(source).flatMap((entry) =>
    entry.startsWith("@") ? readdirSync(join(source, entry)).map((inner) => `${entry}/${inner}`) : [entry]
  )) {
    if (name.startsWith(".") || name.startsWith("@weft/") || bundledDependencies.includes(name)) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(source, name), join(modules, name))
  }
}

const install = (packages: ReadonlyArray<Published>, place: string): void => {
  run("npm", ["pack", "--silent", "--pack-destination", place, ...packages.map(({ folder }) => `./${folder}`)], root)
  for (const { manifest } of packages) {
    const [archive] = globSync(`${manifest.name.replace("@", "").replace("/", "-")}-*.tgz`, { cwd: place })
    if (archive === undefined) throw new Error(`npm packed no archive of ${manifest.name}`)
    const target = join(place, "node_modules", manifest.name)
    mkdirSync(target, { recursive: true })
    run("tar", ["-xzf", join(place, archive), "-C", target, "--strip-components=1"], place)
  }
}

const load = (packages: ReadonlyArray<Published>, place: string): void => {
  for (const { manifest } of packages) {
    if (loadedByRunnerOnly.includes(manifest.name)) continue
    const program = `const loaded = await import("${manifest.name}"); console.log(Object.keys(loaded).length)`
    writeFileSync(join(place, "load.mjs"), program)
    const names = Number(run(process.execPath, ["load.mjs"], place))
    if (names === 0) throw new Error(`${manifest.name} exports nothing`)
    console.log(`loads ${manifest.name}: ${names} exports`)
  }
}

const compile = (packages: ReadonlyArray<Published>, place: string): void => {
  const lines = packages.flatMap(({ manifest }, index) => [
    `import * as package${index} from "${manifest.name}"`,
    `export const names${index}: ReadonlyArray<keyof typeof package${index}> = []`
  ])
  // An unresolved type would be `any` and pass every other check; a brand of ours must not be one.
  lines.push(`import type { RunId } from "@weft/core"`, "// @ts-expect-error", "export const runId: RunId = 1")
  writeFileSync(join(place, "consumer.ts"), `${lines.join("\n")}\n`)
  const compilerOptions = { strict: true, module: "nodenext", target: "es2024", types: ["node"], noEmit: true }
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }))
  execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", "."], { cwd: place, stdio: "inherit" })
  console.log(`compiles against the types of ${packages.length} packages`)
}

const serve = (place: string): void => {
  cpSync(join(root, "examples/standalone/src"), join(place, "server"), { recursive: true })
  execFileSync(join(root, "node_modules/.bin/vitest"), ["run", "examples/functions/test/github.e2e.test.ts"], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, WEFT_TEST_SERVER: join(place, "server/main.ts") }
  })
}

const place = mkdtempSync(join(tmpdir(), "weft-smoke-"))
try {
  const packages = publishedPackages()
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "consumer", type: "module" }))
  linkDependencies(join(place, "node_modules"))
  install(packages, place)
  load(packages, place)
  compile(packages, place)
  serve(place)
} finally {
  rmSync(place, { recursive: true, force: true })
}
