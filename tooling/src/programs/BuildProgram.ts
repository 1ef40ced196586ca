/** Bundles a program that contains the runtime, together with its worker threads and sandbox runners. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { builtUrls, plainHttp, requireOfPrograms, withoutUnused } from "../build/Program.ts"

/**
 * Packages that are loaded late or never, and stay in `node_modules`. Packages that import `effect` must be bundled, or two
 * copies of it would be loaded. `@weft/bundler` finds its stand-ins in its own folder.
 */
const installed = /^(@modelcontextprotocol\/|@nats-io\/|@weft\/bundler$|minio$|undici$|acme-client$)/
const pages = /\/internal\/httpApi(Swagger|Scalar)\.js$/

const leftInstalled: Plugin = {
  name: "left-installed",
  setup: (build) => {
    build.onResolve({ filter: installed }, async ({ path, pluginData, ...from }) => {
      if (pluginData === installed) return undefined
      const found = await build.resolve(path, { ...from, pluginData: installed })
      return { path: pathToFileURL(found.path).href, external: true }
    })
    build.onResolve({ filter: pages }, ({ path, resolveDir }) => ({
      path: pathToFileURL(join(resolveDir, path)).href,
      external: true
    }))
  }
}

const shared: BuildOptions = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  conditions: ["weft-source"],
  outExtension: { ".js": ".mjs" },
  // A native addon, and a program in Go.
  external: ["isolated-vm", "esbuild"],
  banner: { js: requireOfPrograms },
  legalComments: "none",
  metafile: true,
  logLevel: "error",
  plugins: [builtUrls, leftInstalled, plainHttp, withoutUnused]
}

/** Entry modules of processes and threads. Each is bundled into one file, without code that it does not use. */
const programs = {
  "runner/main": "packages/sandbox/src/runner/main.ts",
  JournalWorker: "adapters/sqlite/src/JournalWorker.ts",
  SchemaWorker: "adapters/http/src/mcp/SchemaWorker.ts"
}

/** Bundles the module `main` and its programs into `outdir`, as `main.mjs`. Returns the source files, from the root. */
export const buildProgram = async (root: string, main: string, outdir: string): Promise<ReadonlyArray<string>> => {
  // The sandbox package exports these options, because it builds the same script when it runs from its sources.
  const options = pathToFileURL(join(root, "packages/sandbox/src/supervisor/GuestBuild.ts")).href
  const scripts: {
    readonly guestBuild: BuildOptions
    readonly optionalBuilds: Readonly<Record<string, BuildOptions>>
    readonly sessionBuild: BuildOptions
  } = await import(options)
  const results = await Promise.all([
    // Splitting puts dynamic imports into separate files.
    build({
      ...shared,
      absWorkingDir: root,
      outdir,
      splitting: true,
      entryPoints: { main }
    }),
    ...Object.entries(programs).map(([name, entry]) =>
      build({ ...shared, absWorkingDir: root, outdir, entryPoints: { [name]: entry } })
    ),
    ...[
      { name: "guest", script: scripts.guestBuild },
      { name: "guest/repl", script: scripts.sessionBuild },
      ...Object.entries(scripts.optionalBuilds).map(([name, script]) => ({ name: `guest/${name}`, script }))
    ].map(({ name, script }) =>
      build({
        ...script,
        absWorkingDir: root,
        outfile: join(outdir, name, "main.mjs"),
        entryPoints: [`packages/sandbox/src/${name}/main.ts`],
        metafile: true
      })
    )
  ])
  const inputs = new Set(results.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {})))
  return [...inputs].filter((input) => existsSync(join(root, input)))
}
