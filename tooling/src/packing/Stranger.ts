/** A project outside the repository, as somebody has it who knows of Weft only what npm gave them. */
import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { root } from "../build/published.ts"
import type { Archive } from "./Archive.ts"
import { type Program, programsOf } from "./Readme.ts"

/** Its suites register tests as they load, which only a test runner allows. */
const loadedByRunnerOnly = ["@weft/contract"]

/** What a project in TypeScript has, and what the READMEs use beside Weft. */
const ofTheProject = ["@types/node", "zod", "@opentelemetry/api", "@opentelemetry/sdk-trace-node"]

export class Stranger {
  readonly place: string

  /** In an empty folder. */
  constructor(place: string) {
    this.place = place
    mkdirSync(place, { recursive: true })
    this.write("package.json", JSON.stringify({ name: "stranger", private: true, type: "module" }))
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.place, path)), { recursive: true })
    writeFileSync(join(this.place, path), text)
  }

  run(command: string, args: ReadonlyArray<string>): string {
    const stdio = ["ignore", "pipe", "inherit"] as const
    return execFileSync(command, args, { cwd: this.place, encoding: "utf8", stdio: [...stdio] })
  }

  /** Milliseconds that it took. What the machine has downloaded before is not asked for again. */
  install(archives: ReadonlyArray<Archive>): number {
    const begun = performance.now()
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"]
    this.run("npm", ["install", ...quiet, ...archives.map(({ file }) => file), ...ofTheProject.map(pinned)])
    return performance.now() - begun
  }

  /** Folders of all copies of a package, from the project. */
  copiesOf(name: string): ReadonlyArray<string> {
    return globSync(`node_modules/**/${name}/package.json`, { cwd: this.place })
      .map(dirname)
      .filter((path) => path.endsWith(`node_modules/${name}`))
  }

  /** Loads every entry of every package in Node; how many names each exports. */
  load(archives: ReadonlyArray<Archive>): ReadonlyMap<string, number> {
    const entries = archives.filter(({ manifest }) => !loadedByRunnerOnly.includes(manifest.name)).flatMap(modulesOf)
    const lines = entries.map((entry) => `["${entry}", Object.keys(await import("${entry}")).length]`)
    this.write("load.mjs", `console.log(JSON.stringify([${lines.join(",\n")}]))`)
    return new Map(JSON.parse(this.run(process.execPath, ["load.mjs"])))
  }

  /** Asks each command of the packages for its version; what it says. */
  runCommands(archives: ReadonlyArray<Archive>): ReadonlyArray<string> {
    const commands = archives.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}))
    return commands.map((command) => this.run(join(this.place, "node_modules/.bin", command), ["--version"]).trim())
  }

  /** Compiles against the types of every entry, and the programs of the READMEs, as Node resolves and as bundlers do. */
  compile(archives: ReadonlyArray<Archive>): void {
    const lines = archives
      .flatMap(modulesOf)
      .flatMap((entry, index) => [
        `import * as module${index} from "${entry}"`,
        `export const names${index}: ReadonlyArray<keyof typeof module${index}> = []`
      ])
    // An unresolved type would be `any` and pass every other check; a brand of ours must not be one.
    lines.push(`import type { RunId } from "@weft/core"`, "// @ts-expect-error", "export const runId: RunId = 1")
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

  /** Runs the programs of the READMEs that are whole; how many. */
  runPrograms(archives: ReadonlyArray<Archive>): number {
    const whole = this.#programs(archives).filter(({ isWhole }) => isWhole)
    for (const { path } of whole) this.run(process.execPath, [path])
    return whole.length
  }

  #programs(archives: ReadonlyArray<Archive>): ReadonlyArray<Program & { readonly path: string }> {
    return archives.flatMap((archive) =>
      programsOf(archive).map((program, index) => {
        const path = `readme/${basename(archive.folder)}${index}.ts`
        this.write(path, program.text)
        return { ...program, path }
      })
    )
  }
}

/** What can be imported, by its full name. */
export const modulesOf = ({ manifest }: Archive): ReadonlyArray<string> =>
  Object.keys(manifest.exports)
    .filter((name) => name !== "./package.json")
    .map((name) => `${manifest.name}${name.slice(1)}`)

/** As the repository has it. */
const pinned = (name: string): string =>
  `${name}@${JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version}`
