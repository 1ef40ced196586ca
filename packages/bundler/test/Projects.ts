/** Projects in temporary folders, and their bundles. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Worker } from "node:worker_threads"
import { type BundleSettings, openBundler } from "../src/index.ts"
import { bundle } from "./Functions.ts"

/** Contents by path. A value `{ link }` is a symbolic link to another path of the project. */
export type Files = Readonly<Record<string, string | Uint8Array | { readonly link: string }>>

type Settings = Omit<BundleSettings, "folder" | "entry"> & { readonly entry?: string }

/** Writes the files to a new folder, calls `use`, and removes the folder. */
const withFolder = async <A>(files: Files, use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "weft-bundler-")))
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, name)
      mkdirSync(dirname(path), { recursive: true })
      if (typeof content === "string" || content instanceof Uint8Array) writeFileSync(path, content)
      else symlinkSync(join(folder, content.link), path)
    }
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns `index.js` and the source map of a project; its entry is `index.ts`. */
export const bundleFiles = (files: Files, { entry = "index.ts", ...settings }: Settings = {}) =>
  withFolder(files, (folder) => bundle({ folder, entry: join(folder, entry), ...settings }))

/** Returns the folder of the project, and the inputs of its bundle. */
export const inputsOf = (files: Files) =>
  withFolder(files, async (folder) => {
    const bundler = openBundler({ folder, entry: join(folder, "index.ts") })
    const { inputs } = await bundler.bundle()
    await bundler.dispose()
    return { folder, inputs }
  })

export const codeOf = async (files: Files, settings?: Settings): Promise<string> =>
  new TextDecoder().decode((await bundleFiles(files, settings))["index.js"])

/**
 * Returns the result of the exported function `main` of a project. The bundle runs in a thread of its own, because it
 * replaces globals.
 */
export const runMain = async (files: Files, settings?: Settings): Promise<unknown> => {
  const url = toDataUrl(await codeOf(files, settings))
  const program = `
    import { parentPort } from "node:worker_threads"
    const { main } = await import(${JSON.stringify(url)})
    parentPort.postMessage(await main())`
  const worker = new Worker(new URL(toDataUrl(program)), { execArgv: [] })
  try {
    return await new Promise((resolve, reject) => {
      worker.once("message", resolve)
      worker.once("error", reject)
    })
  } finally {
    await worker.terminate()
  }
}

const toDataUrl = (code: string): string => `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`

/** Returns the first error of a bundle that fails, as `file:line text`. */
export const failureOf = async (files: Files, settings?: Settings): Promise<string> => {
  try {
    await bundleFiles(files, settings)
    return "bundled"
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n")[1] ?? error.message) : String(error)
  }
}
