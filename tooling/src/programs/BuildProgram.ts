/** Builds a program that has the runtime in it, with its threads and its runners. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type BuildOptions, build, type Plugin } from "esbuild"
import { builtUrls, plainHttp, requireOfPrograms, withoutUnused } from "../build/Program.ts"

/** Loaded later or never: taken from where they are installed. What uses `effect` must not, or there were two of it. */
const installed = /^(@modelcontextprotocol\/|@nats-io\/|minio$|undici$|acme-client$)/
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
  // Native, or programs of their own.
  external: ["isolated-vm", "esbuild"],
  banner: { js: requireOfPrograms },
  // Traces name functions and lines of what was built.
  legalComments: "none",
  metafile: true,
  logLevel: "error",
  plugins: [builtUrls, leftInstalled, plainHttp, withoutUnused]
}

/** Processes and threads: one file each, so that they load nothing that they do not use. */
const programs = {
  "runner/main": "packages/sandbox/src/runner/main.ts",
  JournalWorker: "adapters/sqlite/src/JournalWorker.ts",
  SchemaWorker: "adapters/http/src/mcp/SchemaWorker.ts"
}

/** Builds the module `main` into the folder `outdir`, `main.mjs` and what it needs beside it. The sources, from the root. */
export const buildProgram = async (root: string, main: string, outdir: string): Promise<ReadonlyArray<string>> => {
  // Said by the package itself, which makes the script in a process that runs from its sources.
  const said = pathToFileURL(join(root, "packages/sandbox/src/supervisor/GuestBuild.ts")).href
  const { guestBuild }: { readonly guestBuild: BuildOptions } = await import(said)
  const results = await Promise.all([
    // What is loaded later is in files of its own.
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
    build({
      ...guestBuild,
      absWorkingDir: root,
      outfile: join(outdir, "guest/main.mjs"),
      entryPoints: ["packages/sandbox/src/guest/main.ts"],
      metafile: true
    })
  ])
  const inputs = new Set(results.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {})))
  return [...inputs].filter((input) => existsSync(join(root, input)))
}
