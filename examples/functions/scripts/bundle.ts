/** Bundles the functions in the format of the runtime: a zip with one module, `index.js`, at its root. */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { zipSync } from "fflate"

export interface Bundle {
  readonly zip: Uint8Array
  /** SHA-256 of the zip, hexadecimal. */
  readonly hash: string
}

/** Bundles the project. The same sources and dependencies always give the same bytes. */
export const bundle = async (): Promise<Bundle> => {
  const folder = fileURLToPath(new URL("..", import.meta.url))
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ["src/index.ts"],
    outfile: "index.js",
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    conditions: ["weft-source"],
    mainFields: ["module", "main"],
    target: "es2024",
    sourcemap: "linked"
  })
  const { name, version }: { name: string; version: string } = JSON.parse(
    await readFile(new URL("../package.json", import.meta.url), "utf8")
  )
  const manifest = new TextEncoder().encode(JSON.stringify({ name, version }))
  const files = Object.fromEntries(outputFiles.map(({ path, contents }) => [path.slice(folder.length), contents]))
  const zip = zipSync({ ...files, "manifest.json": manifest }, { level: 9, mtime: new Date(1980, 0, 1) })
  return { zip, hash: createHash("sha256").update(zip).digest("hex") }
}
