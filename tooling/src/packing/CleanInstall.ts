/** A new project outside of the repository, with the packages installed from their archives. */
import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { root } from "../build/published.ts"
import type { Archive } from "./Archive.ts"
import { type Program, readPrograms } from "./Readme.ts"

/** Packages that register tests on import, which works only in a test runner. */
const loadedByRunnerOnly = ["@weft/contract"]

/** Other dependencies of the project: types of Node, and packages that the READMEs import. */
const otherDependencies = ["@types/node", "zod", "@opentelemetry/api", "@opentelemetry/sdk-trace-node"]

export class CleanInstall {
  readonly place: string

  /** Creates the project in the empty folder `place`. */
  constructor(place: string) {
    this.place = place
    mkdirSync(place, { recursive: true })
    this.write("package.json", JSON.stringify({ name: "clean-install", private: true, type: "module" }))
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.place, path)), { recursive: true })
    writeFileSync(join(this.place, path), text)
  }

  run(command: string, args: ReadonlyArray<string>): string {
    const stdio = ["ignore", "pipe", "inherit"] as const
    return execFileSync(command, args, { cwd: this.place, encoding: "utf8", stdio: [...stdio] })
  }

  /** Installs the archives and returns the duration in milliseconds. Prefers packages in the cache of npm. */
  install(archives: ReadonlyArray<Archive>): number {
    const begun = performance.now()
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"]
    this.run("npm", ["install", ...quiet, ...archives.map(({ file }) => file), ...otherDependencies.map(pinned)])
    return performance.now() - begun
  }

  /** Returns the folders of all copies of a package, relative to the project. */
  findCopies(name: string): ReadonlyArray<string> {
    return globSync(`node_modules/**/${name}/package.json`, { cwd: this.place })
      .map(dirname)
      .filter((path) => path.endsWith(`node_modules/${name}`))
  }

  /** Imports every entry of every package in Node and returns the number of exports of each. */
  load(archives: ReadonlyArray<Archive>): ReadonlyMap<string, number> {
    const entries = archives.filter(({ manifest }) => !loadedByRunnerOnly.includes(manifest.name)).flatMap(listModules)
    const lines = entries.map((entry) => `["${entry}", Object.keys(await import("${entry}")).length]`)
    this.write("load.mjs", `console.log(JSON.stringify([${lines.join(",\n")}]))`)
    return new Map(JSON.parse(this.run(process.execPath, ["load.mjs"])))
  }

  /** Runs each command of the packages with `--version` and returns the output. */
  runCommands(archives: ReadonlyArray<Archive>): ReadonlyArray<string> {
    const commands = archives.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}))
    return commands.map((command) => this.run(join(this.place, "node_modules/.bin", command), ["--version"]).trim())
  }

  /** Compiles imports of every entry, and the programs of the READMEs, with `nodenext` and `bundler` resolution. */
  compile(archives: ReadonlyArray<Archive>): void {
    const lines = archives
      .flatMap(listModules)
      .flatMap((entry, index) => [
        `import * as module${index} from "${entry}"`,
        `export const names${index}: ReadonlyArray<keyof typeof module${index}> = []`
      ])
    // An unresolved type is `any` and passes every other check. A branded type must reject a number.
    lines.push(
      `import type { RunId } from "@weft/core/adapter"`,
      "// @ts-expect-error",
      "export const runId: RunId = 1"
    )
    this.write("consumer.ts", `${lines.join("\n")}\n`)
    const files = ["consumer.ts", ...this.#programs(archives).map(({ path }) => path)]
    for (const [module, moduleResolution] of [
      ["nodenext", "nodenext"],
      ["esnext", "bundler"]
    ] as const) {
      const compilerOptions = {
        strict: true,
        module,
        moduleResolution,
        target: "es2024",
        types: ["node"],
        noEmit: true
      }
      this.write("tsconfig.json", JSON.stringify({ compilerOptions, files }))
      execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", "."], { cwd: this.place, stdio: "inherit" })
    }
  }

  /** Runs the complete programs of the READMEs and returns their number. */
  runPrograms(archives: ReadonlyArray<Archive>): number {
    const whole = this.#programs(archives).filter(({ isWhole }) => isWhole)
    for (const { path } of whole) this.run(process.execPath, [path])
    return whole.length
  }

  #programs(archives: ReadonlyArray<Archive>): ReadonlyArray<Program & { readonly path: string }> {
    return archives.flatMap((archive) =>
      readPrograms(archive).map((program, index) => {
        const path = `readme/${basename(archive.folder)}${index}.ts`
        this.write(path, program.text)
        return { ...program, path }
      })
    )
  }
}

/** Returns the import specifiers of all typed entries of a package. */
export const listModules = ({ manifest }: Pick<Archive, "manifest">): ReadonlyArray<string> =>
  Object.entries(manifest.exports)
    .filter(([, entry]) => typeof entry !== "string" && "types" in entry && entry.types !== null)
    .map(([name]) => `${manifest.name}${name.slice(1)}`)

/** Returns `name@version` with the version that is installed in the repository. */
const pinned = (name: string): string =>
  `${name}@${JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version}`
